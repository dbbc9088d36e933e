package android.view;

public final class FrameMetrics {
    public long getMetric(int id) {
        return 0;
    }
}

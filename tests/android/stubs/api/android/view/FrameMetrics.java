package android.view;

public class FrameMetrics {
    public long getMetric(int id) {
        return 0;
    }
}

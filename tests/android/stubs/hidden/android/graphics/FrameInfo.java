package android.graphics;

public final class FrameInfo {
    public void setVsync(long intendedNs, long usedNs) {}

    public void markInputHandlingStart() {}

    public void markAnimationsStart() {}

    public void markPerformTraversalsStart() {}
}

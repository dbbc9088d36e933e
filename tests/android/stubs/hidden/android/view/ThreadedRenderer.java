package android.view;

public final class ThreadedRenderer {
    static final String DEBUG_FPS_DIVISOR = "debug.hwui.fps_divisor";

    static void setFPSDivisor(int divisor) {}
}

package android.os;

public final class SystemClock {
    /** CLOCK_MONOTONIC, as on Android. */
    public static long uptimeMillis() {
        return System.nanoTime() / 1_000_000;
    }
}

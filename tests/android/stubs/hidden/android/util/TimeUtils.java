package android.util;

public class TimeUtils {
    public static final long NANOS_PER_MS = 1_000_000;

    public static void formatDuration(long ms, StringBuilder out) {
        out.append(ms).append("ms");
    }

    public static String formatUptime(long ms) {
        return ms + "ms";
    }
}

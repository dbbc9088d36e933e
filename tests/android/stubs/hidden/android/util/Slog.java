package android.util;

public final class Slog {
    public static int w(String tag, String message) {
        return Log.w(tag, message);
    }

    public static int wtf(String tag, String message) {
        return Log.wtf(tag, message);
    }
}

package android.util;

public final class Log {
    public static final int ERROR = 6;

    private static int print(String level, String tag, String message, Throwable error) {
        System.err.println(level + "/" + tag + ": " + message + (error == null ? "" : " " + error));
        return 0;
    }

    public static int v(String tag, String message) {
        return 0;
    }

    public static int d(String tag, String message) {
        return 0;
    }

    public static int i(String tag, String message) {
        return print("I", tag, message, null);
    }

    public static int w(String tag, String message) {
        return print("W", tag, message, null);
    }

    public static int w(String tag, String message, Throwable error) {
        return print("W", tag, message, error);
    }

    public static int e(String tag, String message) {
        return print("E", tag, message, null);
    }

    public static int e(String tag, String message, Throwable error) {
        return print("E", tag, message, error);
    }

    public static int wtf(String tag, String message) {
        return print("F", tag, message, null);
    }

    public static int wtf(String tag, String message, Throwable error) {
        return print("F", tag, message, error);
    }
}

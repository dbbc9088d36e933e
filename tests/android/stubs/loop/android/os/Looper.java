package android.os;

import android.util.Printer;

public final class Looper {
    public static Looper getMainLooper() {
        return null;
    }

    public static Looper myLooper() {
        return null;
    }

    public static MessageQueue myQueue() {
        return null;
    }

    public Thread getThread() {
        return null;
    }

    public void setMessageLogging(Printer printer) {}
}

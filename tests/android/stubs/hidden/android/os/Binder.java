package android.os;

public class Binder {
    public static long clearCallingIdentity() {
        return 1;
    }

    public static int getCallingUid() {
        return 0;
    }

    public static void flushPendingCommands() {}
}

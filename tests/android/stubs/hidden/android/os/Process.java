package android.os;

public class Process {
    public static final int THREAD_PRIORITY_DEFAULT = 0;

    public static int myUid() {
        return 0;
    }

    public static int myTid() {
        return 0;
    }

    public static void setThreadPriority(int priority) {}
}

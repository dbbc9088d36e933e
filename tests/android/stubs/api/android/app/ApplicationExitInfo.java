package android.app;

public class ApplicationExitInfo {
    public static final int REASON_EXIT_SELF = 1;
    public static final int REASON_SIGNALED = 2;
    public static final int REASON_LOW_MEMORY = 3;
    public static final int REASON_CRASH = 4;
    public static final int REASON_CRASH_NATIVE = 5;
    public static final int REASON_ANR = 6;
    public static final int REASON_USER_REQUESTED = 10;

    public int getReason() {
        return 0;
    }

    public int getStatus() {
        return 0;
    }

    public int getPid() {
        return 0;
    }

    public long getTimestamp() {
        return 0;
    }

    public String getDescription() {
        return null;
    }
}

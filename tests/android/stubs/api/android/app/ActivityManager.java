package android.app;

import java.util.List;

public class ActivityManager {
    /** What Android thinks of a process. */
    public static class RunningAppProcessInfo {
        public static final int IMPORTANCE_FOREGROUND = 100;

        public int importance;
    }

    public static void getMyMemoryState(RunningAppProcessInfo out) {
        out.importance = Integer.getInteger("stub.importance", RunningAppProcessInfo.IMPORTANCE_FOREGROUND);
    }

    public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int maxNum) {
        return null;
    }
}

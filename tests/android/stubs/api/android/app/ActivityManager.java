package android.app;

import java.util.List;

public class ActivityManager {
    public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int maxNum) {
        return null;
    }
}

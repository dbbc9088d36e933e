package dev.jankbox;

import android.annotation.TargetApi;
import android.app.ActivityManager;
import android.app.ApplicationExitInfo;
import android.content.Context;
import android.os.Build;

import java.util.ArrayList;
import java.util.List;

/** How the last process ended, as Android has noted it (API 30), for the report that is recovered from its ring. */
final class AppExits {
    private AppExits() {}

    static void tellLast(Context context) {
        if (Build.VERSION.SDK_INT < 30) return;
        try {
            Native.lastExit(last(context));
        } catch (RuntimeException notPermitted) {
            // then the report says what the ring does
        }
    }

    @TargetApi(30)
    private static String[] last(Context context) {
        ActivityManager activities = (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
        List<ApplicationExitInfo> exits = activities == null
                ? new ArrayList<ApplicationExitInfo>()
                : activities.getHistoricalProcessExitReasons(context.getPackageName(), 0, 1);
        if (exits.isEmpty()) return new String[0];
        ApplicationExitInfo exit = exits.get(0);
        return new String[] {
            "exit_reason", nameOf(exit.getReason()),
            "exit_description", String.valueOf(exit.getDescription()),
            "exit_status", Integer.toString(exit.getStatus()),
            "exit_pid", Integer.toString(exit.getPid()),
            "exit_time_ms", Long.toString(exit.getTimestamp()),
        };
    }

    @TargetApi(30)
    private static String nameOf(int reason) {
        switch (reason) {
            case ApplicationExitInfo.REASON_ANR: return "anr";
            case ApplicationExitInfo.REASON_CRASH: return "crash";
            case ApplicationExitInfo.REASON_CRASH_NATIVE: return "native crash";
            case ApplicationExitInfo.REASON_EXIT_SELF: return "exit";
            case ApplicationExitInfo.REASON_LOW_MEMORY: return "low memory";
            case ApplicationExitInfo.REASON_SIGNALED: return "signal";
            case ApplicationExitInfo.REASON_USER_REQUESTED: return "user";
            default: return "reason " + reason;
        }
    }
}

package dev.jankbox;

import android.app.Activity;
import android.app.ActivityManager;
import android.app.ActivityManager.RunningAppProcessInfo;
import android.app.Application;
import android.content.ComponentCallbacks2;
import android.content.Context;
import android.content.res.Configuration;
import android.os.Build;
import android.os.Bundle;

import java.util.IdentityHashMap;
import java.util.Map;

/** Follows the app: which activity is shown, whether it is in front, its frames, and what the device is short of. */
final class AppWatch implements Application.ActivityLifecycleCallbacks, ComponentCallbacks2 {
    private final boolean wantsFrames;
    private final Map<Activity, WindowFrames> windows = new IdentityHashMap<Activity, WindowFrames>();
    private ChoreographerFrames choreographer;
    private Application application;
    private int visible;

    AppWatch(boolean wantsFrames) {
        this.wantsFrames = wantsFrames;
    }

    void start(Context context) {
        Context app = context.getApplicationContext();
        if (!(app instanceof Application)) app = context; // inside Application.attachBaseContext()
        if (!(app instanceof Application)) return;
        application = (Application) app;
        if (!isInFront()) Native.setForeground(false);
        application.registerActivityLifecycleCallbacks(this);
        application.registerComponentCallbacks(this);
        if (wantsFrames && Build.VERSION.SDK_INT < 24) choreographer = ChoreographerFrames.start();
    }

    /** Android starts a process also for a service or a broadcast: then its first frame is no end of a cold start. */
    private static boolean isInFront() {
        RunningAppProcessInfo own = new RunningAppProcessInfo();
        ActivityManager.getMyMemoryState(own);
        return own.importance == RunningAppProcessInfo.IMPORTANCE_FOREGROUND;
    }

    void stop() {
        if (application == null) return;
        application.unregisterActivityLifecycleCallbacks(this);
        application.unregisterComponentCallbacks(this);
        if (choreographer != null) choreographer.stop();
        for (WindowFrames window : windows.values()) window.stop();
        windows.clear();
    }

    @Override
    public void onActivityStarted(Activity activity) {
        if (visible++ == 0) {
            Native.setForeground(true);
            DeviceState.tell(application);
        }
        if (wantsFrames && Build.VERSION.SDK_INT >= 24 && !windows.containsKey(activity)) {
            float refreshRate = activity.getWindowManager().getDefaultDisplay().getRefreshRate();
            windows.put(activity, new WindowFrames(activity.getWindow(), Build.VERSION.SDK_INT, refreshRate));
        }
    }

    @Override
    public void onActivityResumed(Activity activity) {
        Native.setState("screen", activity.getClass().getSimpleName());
    }

    @Override
    public void onActivityStopped(Activity activity) {
        WindowFrames window = windows.remove(activity);
        if (window != null) window.stop();
        // A rotation stops the activity and starts it again: the app does not leave the front for that.
        if (visible > 0 && --visible == 0 && !activity.isChangingConfigurations()) {
            Native.setForeground(false);
            DeviceState.tell(application);
        }
    }

    @Override
    public void onTrimMemory(int level) {
        Native.setState("trim_memory", Integer.toString(level));
    }

    @Override
    public void onLowMemory() {
        onTrimMemory(TRIM_MEMORY_COMPLETE);
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {}

    @Override
    public void onActivityPaused(Activity activity) {}

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

    @Override
    public void onActivityDestroyed(Activity activity) {}

    @Override
    public void onConfigurationChanged(Configuration configuration) {}
}

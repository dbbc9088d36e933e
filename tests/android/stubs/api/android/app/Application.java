package android.app;

import android.content.ComponentCallbacks;
import android.content.Context;
import android.os.Bundle;

public class Application extends Context {
    public interface ActivityLifecycleCallbacks {
        void onActivityCreated(Activity activity, Bundle state);

        void onActivityStarted(Activity activity);

        void onActivityResumed(Activity activity);

        void onActivityPaused(Activity activity);

        void onActivityStopped(Activity activity);

        void onActivitySaveInstanceState(Activity activity, Bundle state);

        void onActivityDestroyed(Activity activity);
    }

    public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks callback) {}

    public void unregisterActivityLifecycleCallbacks(ActivityLifecycleCallbacks callback) {}

    public void registerComponentCallbacks(ComponentCallbacks callback) {}

    public void unregisterComponentCallbacks(ComponentCallbacks callback) {}
}

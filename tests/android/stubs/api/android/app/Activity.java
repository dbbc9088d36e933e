package android.app;

import android.view.Window;
import android.view.WindowManager;

public class Activity {
    public boolean isChangingConfigurations() {
        return false;
    }

    public Window getWindow() {
        return null;
    }

    public WindowManager getWindowManager() {
        return null;
    }
}

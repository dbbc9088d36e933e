package android.hardware.display;

import android.view.DisplayInfo;

public final class DisplayManagerGlobal {
    private static final DisplayManagerGlobal INSTANCE = new DisplayManagerGlobal();

    public static DisplayManagerGlobal getInstance() {
        return INSTANCE;
    }

    public DisplayInfo getDisplayInfo(int display) {
        return new DisplayInfo();
    }
}

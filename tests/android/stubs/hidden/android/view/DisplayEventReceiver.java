package android.view;

import android.os.Looper;

/** Of a display that is not there: the Choreographer posts its frames as messages then. */
public abstract class DisplayEventReceiver {
    public static final int VSYNC_SOURCE_APP = 0;
    public static final int VSYNC_SOURCE_SURFACE_FLINGER = 1;
    public static final int CONFIG_CHANGED_EVENT_SUPPRESS = 0;

    public DisplayEventReceiver(Looper looper, int source, int configChanged) {}

    public void scheduleVsync() {}

    public void dispose() {}

    public void onVsync(long timestampNs, long display, int frame) {}
}

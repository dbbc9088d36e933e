package dev.jankbox;

import android.annotation.TargetApi;
import android.view.AttachedSurfaceControl;
import android.view.SurfaceControl;
import android.view.Window;

import java.util.List;
import java.util.concurrent.Executor;

/**
 * Who made one window's frames late, as the compositor found (JankData, API 36). It comes in batches, some time after
 * the frames, on a thread of the system's. start() and stop() on the main thread.
 */
@TargetApi(36)
final class WindowJank implements SurfaceControl.OnJankDataListener, Executor {
    private SurfaceControl.OnJankDataListenerRegistration registration;

    private WindowJank() {}

    /** Null if the window is on no screen, or the system does not say. */
    static WindowJank start(Window window) {
        try {
            AttachedSurfaceControl surface = window.getRootSurfaceControl();
            if (surface == null) return null;
            WindowJank jank = new WindowJank();
            jank.registration = surface.registerOnJankDataListener(jank, jank);
            return jank;
        } catch (RuntimeException | LinkageError notThere) {
            return null;
        }
    }

    void stop() {
        try {
            registration.removeAfter(0); // at once
        } catch (RuntimeException gone) {
            // with its surface
        }
    }

    @Override
    public void onJankDataAvailable(List<SurfaceControl.JankData> frames) {
        for (SurfaceControl.JankData frame : frames) {
            Native.frameJank(frame.getVsyncId(), frame.getJankType(), frame.getScheduledAppFrameTimeNanos(),
                    frame.getActualAppFrameTimeNanos());
        }
    }

    @Override
    public void execute(Runnable command) {
        command.run();
    }
}

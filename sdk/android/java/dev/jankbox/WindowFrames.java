package dev.jankbox;

import android.annotation.TargetApi;
import android.os.Handler;
import android.os.Looper;
import android.view.FrameMetrics;
import android.view.Window;

/**
 * Frames of one window by FrameMetrics (API 24; deadlines from 31, vsync ids and JankData from 36). They come as
 * messages of the main thread, one a frame: that is the thread that they are frames of.
 */
@TargetApi(24)
final class WindowFrames implements Window.OnFrameMetricsAvailableListener {
    private static final int METRICS = 15; // frame_metrics.h: kFrameMetrics

    private final Window window;
    private final long[] metrics = new long[METRICS];
    private final int known; // metrics that this API level has
    private final long intervalNs;
    private boolean wantsJank;
    private WindowJank jank;

    WindowFrames(Window window, int apiLevel, float refreshRate) {
        this.window = window;
        wantsJank = apiLevel >= 36;
        known = apiLevel >= 36 ? METRICS : apiLevel >= 31 ? 14 : apiLevel >= 26 ? 12 : 10;
        intervalNs = refreshRate > 0 ? (long) (1e9 / refreshRate) : 0;
        window.addOnFrameMetricsAvailableListener(this, new Handler(Looper.getMainLooper()));
    }

    void stop() {
        wantsJank = false;
        if (jank != null) jank.stop();
        try {
            window.removeOnFrameMetricsAvailableListener(this);
        } catch (IllegalArgumentException notAddedAnyMore) {
            // the window had no view yet, or has gone
        }
    }

    @Override
    public void onFrameMetricsAvailable(Window of, FrameMetrics frame, int droppedReports) {
        for (int i = 0; i < known; ++i) metrics[i] = frame.getMetric(i);
        Native.frameMetrics(metrics, intervalNs);
        if (!wantsJank) return;
        wantsJank = false; // a window has its surface from its first frame on
        jank = WindowJank.start(window);
    }
}

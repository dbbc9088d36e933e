package android.view;

import android.os.Handler;

public abstract class Window {
    public interface OnFrameMetricsAvailableListener {
        void onFrameMetricsAvailable(Window window, FrameMetrics metrics, int droppedReports);
    }

    public AttachedSurfaceControl getRootSurfaceControl() {
        return null;
    }

    public void addOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener listener, Handler handler) {}

    public void removeOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener listener) {}
}

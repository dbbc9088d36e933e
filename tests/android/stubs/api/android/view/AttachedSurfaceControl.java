package android.view;

import java.util.concurrent.Executor;

public interface AttachedSurfaceControl {
    default SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener) {
        return new SurfaceControl.OnJankDataListenerRegistration();
    }
}

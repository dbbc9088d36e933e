package dev.jankbox;

import android.os.Trace;

/**
 * android.os.Trace keeps its own copy of the tags that are on, taken when the process started: without a fresh one,
 * Java sections stay off although the native side has turned them on.
 */
final class TraceTags {
    private TraceTags() {}

    /** By what Android 5 to 10 have for it; later ones ask the native side each time. Does nothing elsewhere. */
    static void refresh() {
        try {
            Trace.class.getMethod("setAppTracingAllowed", boolean.class).invoke(null, true);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError notThere) {
            // nothing to refresh, or not permitted
        }
    }
}

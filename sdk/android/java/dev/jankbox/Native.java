package dev.jankbox;

import dalvik.annotation.optimization.CriticalNative;
import dalvik.annotation.optimization.FastNative;

/**
 * The native library, as sdk/android/jni registers it. Methods are looked up by these names: consumer-rules.pro
 * keeps them.
 */
final class Native {
    /** The library is loaded. Never becomes false again. */
    static boolean ready;

    /** Why the library could not be loaded; null if it was, or if no call tried. */
    static String whyNot;

    private Native() {}

    /** Loads the library once. False if that fails: then nothing else here may be called. */
    static synchronized boolean load() {
        if (ready || whyNot != null) return ready;
        try {
            System.loadLibrary("jankbox_jni");
            ready = true;
        } catch (LinkageError | RuntimeException error) {
            whyNot = String.valueOf(error.getMessage());
        }
        return ready;
    }

    // Events, on any thread. Ids are methodId()'s.
    static native int methodId(String name);
    /** The id of render work of that kind: render.h. */
    static native int renderId(String kind, String name);
    @CriticalNative static native void begin(int id);
    @CriticalNative static native void end(int id);
    @CriticalNative static native void asyncBegin(int id, long cookie);
    @CriticalNative static native void asyncEnd(int id, long cookie);
    @CriticalNative static native void counter(int id, long value);
    @CriticalNative static native void instant(int id);

    // Frames, on the thread that made them. Times: nanoseconds of System.nanoTime().
    @CriticalNative static native void frame(
            long vsyncNs, long deadlineNs, long intervalNs, long beginNs, long endNs);
    @FastNative static native void frameMetrics(long[] metrics, long intervalNs);

    /** One frame of SurfaceControl.JankData. Any thread. */
    static native void frameJank(long vsyncId, int type, long scheduledNs, long actualNs);

    // The watched Looper, on its own thread.
    static native void attachLooper(long nowMs, long recheckMs);
    static native void detachLooper();
    static native void looperIdle(long nowMs);
    @FastNative static native void dispatchLine(String line, int from, int length);
    @CriticalNative static native void dispatchEnd();
    @FastNative static native void idleBegin(String name);
    @CriticalNative static native void idleEnd();

    // Functions of the thread that takes Java stacks.
    /** The current threshold; 0: not known yet. */
    static native int slowMessageMs();
    /** Odd while a message runs; another number for each message. */
    @CriticalNative static native int dispatchSequence();
    /**
     * The calls, innermost first, that were on the stack in `seen` of `samples` samples of that message; `wait`: what
     * the thread waited for in most of them, or null.
     */
    static native void overdueStack(int sequence, String[] frames, int seen, int samples, String wait);

    // Binder calls, on a Jankbox thread.
    /** An interface that was called and not returned yet; null if there is none. */
    static native String newBinderInterface();
    static native void binderCodes(String stub, String[] constants, int[] codes);

    // The session. Options are name, value, name, value, …; codes are those of jankbox.h.
    static native int start(String[] namesAndValues);
    static native void stop();
    static native int configure(String[] namesAndValues);
    static native String lastError();
    static native int flush(int timeoutMs);
    static native int snapshot(String reason);
    static native int reportIncident(String what, long beginNs, long endNs);
    static native int setState(String key, String value);
    static native void setForeground(boolean foreground);
    static native void fullyDrawn();
    static native void input(long eventNs);
    static native void lastExit(String[] keysAndValues);

    // Uploads: Uploads.post() passes its results through these while it runs.
    static native void answerPost(long post, int status, String retryAfter, byte[] body, int bodyBytes);
    static native void failPost(long post, String error);
    static native boolean postCancelled(long post);
    /** JANKBOX_NETWORK_… of jankbox/upload.h. */
    static native void setNetwork(int network);
    static native void setUpload(boolean allowed);
    static native int resetInstallationId();

    // Called by the native side, on its uploading thread.
    static void post(long post, String url, String contentType, String userAgent, int fd, long bytes,
            int connectMs, int totalMs) {
        Uploads.post(post, url, contentType, userAgent, fd, bytes, connectMs, totalMs);
    }

    // Called by the native side, on the watched Looper's thread.
    static int lookAtPrinter() {
        return LooperMonitor.lookAtPrinter();
    }

    static void installPrinter(boolean chained) {
        LooperMonitor.installPrinter(chained);
    }

    static void uninstallPrinter() {
        LooperMonitor.uninstallPrinter();
    }
}

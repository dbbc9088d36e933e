package dev.jankbox;

import android.content.Context;
import android.os.Looper;
import android.view.LayoutInflater;

/**
 * A flight recorder for the UI thread: when a message, a frame or the start of the app takes too long, it writes a
 * report that says why. Call start() once, early, on the main thread. Every other method may be called at any time
 * from any thread. Methods that can fail return OK (0) or an error code, whose reason lastError() returns as a
 * sentence; the others do nothing while Jankbox does not record. No method throws. jankbox.h describes each call.
 */
public final class Jankbox {
    // The codes of jankbox_status in jankbox.h.
    /** The call succeeded. */
    public static final int OK = 0;
    /** An argument or an option is out of its range; nothing was changed. */
    public static final int INVALID_ARGUMENT = 1;
    /** A file or folder does not exist. */
    public static final int NOT_FOUND = 2;
    /** The disk is full, or a fixed number of places is taken. */
    public static final int NO_SPACE = 3;
    /** The system does not permit it. */
    public static final int PERMISSION_DENIED = 4;
    /** The system reported another error for a file. */
    public static final int IO = 5;
    /** The native library could not be loaded, or this device cannot do it. */
    public static final int UNSUPPORTED = 6;
    /** A file has content that Jankbox did not write. */
    public static final int CORRUPT = 7;
    /** Jankbox is not recording. lastError() is unchanged. */
    public static final int NOT_RUNNING = 8;
    /** Another process uses a file, or too many requests are pending; a later call may succeed. */
    public static final int BUSY = 9;
    /** The time that the caller gave was over before the work was done. lastError() is unchanged. */
    public static final int TIMED_OUT = 10;

    private static final long RECHECK_MS = 60_000; // as Matrix

    // Of start() and stop(), which are synchronized.
    private static LooperMonitor monitor;
    private static StackWatch stacks;
    private static AppWatch app;
    private static SystemTraces systemTraces; // null: not requested, or not available

    private Jankbox() {}

    /**
     * Starts recording and follows the app: its activities, frames, foreground state and device state. Options are those
     * of the app's manifest, then those of `options` (may be null), which win. Main thread. Returns OK or an error code.
     */
    public static synchronized int start(Context context, Options options) {
        Options all = options == null ? new Options() : options.copy();
        AppDefaults.add(context, all);
        if (Native.load()) AppExits.tellLast(context);
        int code = start(all);
        if (code == OK && app == null) {
            app = new AppWatch(all.isOn(Options.JAVA_FRAMES, true));
            app.start(context);
            if (all.isOn(Options.SYSTEM_TRACE, false)) systemTraces = SystemTraces.start(context, all.text("dir"));
        }
        return code;
    }

    /**
     * Starts recording without following an app: only the main Looper's messages and the calls below. `options` may be
     * null. Main thread. Returns OK or an error code.
     */
    public static synchronized int start(Options options) {
        if (!Native.load()) return UNSUPPORTED;
        Options all = options == null ? new Options() : options;
        int code = Native.start(all.forNative());
        if (code != OK || monitor != null) return code;
        TraceTags.refresh();
        Looper looper = Looper.getMainLooper();
        if (looper == null || !all.isOn(Options.LOOPER_PRINTER, true)) return code;
        monitor = new LooperMonitor(
                looper, all.number(Options.PRINTER_RECHECK_MS, RECHECK_MS), all.isOn(Options.IDLE_HANDLERS, true));
        monitor.start();
        if (all.isOn(Options.JAVA_STACKS, true)) {
            stacks = new StackWatch(looper.getThread());
            stacks.start();
        }
        return code;
    }

    /** Stops recording and finishes the reports that are being written. Waits at most 2 s. */
    public static synchronized void stop() {
        if (!Native.ready) return;
        if (app != null) app.stop();
        if (systemTraces != null) systemTraces.stop();
        if (stacks != null) stacks.end();
        if (monitor != null) monitor.stop();
        app = null;
        systemTraces = null;
        stacks = null;
        monitor = null;
        Native.stop();
    }

    /**
     * Changes thresholds while Jankbox records; jankbox_configure() in jankbox.h lists the options that it takes. Returns
     * OK, NOT_RUNNING or INVALID_ARGUMENT.
     */
    public static int configure(Options options) {
        return Native.ready ? Native.configure(options.forNative()) : NOT_RUNNING;
    }

    /** Returns the last error of any thread as an English sentence; "" if there was none. */
    public static String lastError() {
        if (Native.ready) return Native.lastError();
        return Native.whyNot == null ? "" : Native.whyNot;
    }

    /**
     * Returns the id for `name`, for the methods below that take an id; 0 before the first start(). Call it once per name
     * and keep the id.
     */
    public static int methodId(String name) {
        return Native.ready ? Native.methodId(name) : 0;
    }

    /** Begins a slice (a method, a step of work) on the calling thread. Slices nest. */
    public static void begin(int id) {
        if (Native.ready) Native.begin(id);
    }

    /** Ends the innermost open slice of the calling thread. */
    public static void end(int id) {
        if (Native.ready) Native.end(id);
    }

    /** Begins a slice that may end on another thread. `cookie` is a number that the caller chooses. */
    public static void asyncBegin(int id, long cookie) {
        if (Native.ready) Native.asyncBegin(id, cookie);
    }

    /** Ends the slice that asyncBegin() began with the same `id` and `cookie`. */
    public static void asyncEnd(int id, long cookie) {
        if (Native.ready) Native.asyncEnd(id, cookie);
    }

    /** Sets a counter to `value`; the trace shows it as a track of its own. */
    public static void counter(int id, long value) {
        if (Native.ready) Native.counter(id, value);
    }

    /** Marks the current moment on the calling thread. */
    public static void instant(int id) {
        if (Native.ready) Native.instant(id);
    }

    /**
     * Records each view that `inflater` creates as render work, "inflate: android.widget.TextView". An activity's inflater
     * also serves its dialogs and fragments. Call it in onCreate(), after super.onCreate(). Returns OK, NOT_RUNNING,
     * INVALID_ARGUMENT for null, or UNSUPPORTED if the inflater has a factory that cannot be wrapped.
     */
    public static int traceInflation(LayoutInflater inflater) {
        if (!Native.ready) return NOT_RUNNING;
        if (inflater == null) return INVALID_ARGUMENT;
        return TracedInflation.install(inflater) ? OK : UNSUPPORTED;
    }

    /**
     * Sets a state of the app, "screen" for example; a report has the states that were set during its incident. A null
     * `value` removes the state. Returns OK, NOT_RUNNING, INVALID_ARGUMENT without a key, or NO_SPACE if 32 are set.
     */
    public static int setState(String key, String value) {
        return Native.ready ? Native.setState(key, value) : NOT_RUNNING;
    }

    /** Marks the end of the app's start: everything that it shows first is on the screen. */
    public static void fullyDrawn() {
        if (Native.ready) Native.fullyDrawn();
    }

    /** Requests a report of the time up to now, titled `reason`. Returns OK, NOT_RUNNING or BUSY. */
    public static int snapshot(String reason) {
        return Native.ready ? Native.snapshot(reason) : NOT_RUNNING;
    }

    /**
     * Reports that the app itself found something too slow. Times are those of System.nanoTime(). Returns OK,
     * INVALID_ARGUMENT, NOT_RUNNING or BUSY.
     */
    public static int reportIncident(String what, long beginNs, long endNs) {
        return Native.ready ? Native.reportIncident(what, beginNs, endNs) : NOT_RUNNING;
    }

    /**
     * Blocks until all pending reports are written and, with an upload URL, one upload of each has been attempted. Not for
     * the main thread. Returns OK, TIMED_OUT or NOT_RUNNING.
     */
    public static int flush(int timeoutMs) {
        return Native.ready ? Native.flush(timeoutMs) : NOT_RUNNING;
    }

    /**
     * Whether the user agrees that reports leave the device. false: nothing is sent any more, what waits is removed
     * within a second, and nothing is written until the user agrees. Not remembered: call it before each start().
     */
    public static void setUpload(boolean allowed) {
        if (Native.load()) Native.setUpload(allowed);
    }

    /**
     * Gives this installation another random id: nothing that is sent from then on has an id that was sent before. What was
     * counted so far and not sent goes out under the old one. Returns OK or NOT_RUNNING.
     */
    public static int resetInstallationId() {
        return Native.ready ? Native.resetInstallationId() : NOT_RUNNING;
    }
}

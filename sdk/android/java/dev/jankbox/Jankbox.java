package dev.jankbox;

import android.content.Context;
import android.os.Looper;
import android.view.LayoutInflater;

/**
 * A flight recorder for the UI thread. Start it once, on the main thread, early; every other method may be called at
 * any time from any thread, and does nothing while Jankbox does not record. Nothing here throws.
 */
public final class Jankbox {
    /** Codes of jankbox.h that start() and others return. */
    public static final int OK = 0;
    public static final int INVALID_ARGUMENT = 1;
    public static final int UNSUPPORTED = 6;
    public static final int NOT_RUNNING = 8;

    private static final long RECHECK_MS = 60_000; // as Matrix

    // Of start() and stop(), which are synchronized.
    private static LooperMonitor monitor;
    private static StackWatch stacks;
    private static AppWatch app;
    private static SystemTraces systemTraces; // null: not asked for, or not to be had

    private Jankbox() {}

    /**
     * Starts recording with what the app's manifest says and `options` (null: nothing more), and follows the app: its
     * activities, frames, foreground and state. Returns OK, or a code whose reason lastError() tells.
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

    /** Starts recording without an app to follow: the main Looper's messages, and what is told by calls. */
    public static synchronized int start(Options options) {
        if (!Native.load()) return UNSUPPORTED;
        Options all = options == null ? new Options() : options;
        int code = Native.start(all.forNative());
        if (code != OK || monitor != null) return code;
        Native.setLoopName("android.os.Looper");
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

    /** Stops recording, and finishes the reports that are being sealed; waits 2 s at most. */
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

    /** Changes thresholds while Jankbox records; see jankbox_configure() of jankbox.h. */
    public static int configure(Options options) {
        return Native.ready ? Native.configure(options.forNative()) : NOT_RUNNING;
    }

    /** The last thing that went wrong, as a sentence; "" if nothing did. */
    public static String lastError() {
        if (Native.ready) return Native.lastError();
        return Native.whyNot == null ? "" : Native.whyNot;
    }

    /** The id of a method or slice of that name: ask once and keep it. */
    public static int methodId(String name) {
        return Native.ready ? Native.methodId(name) : 0;
    }

    /** A method or slice begins or ends on this thread. Ends match begins by nesting. */
    public static void begin(int id) {
        if (Native.ready) Native.begin(id);
    }

    public static void end(int id) {
        if (Native.ready) Native.end(id);
    }

    /** Something that may end on another thread; (id, cookie) names it. */
    public static void asyncBegin(int id, long cookie) {
        if (Native.ready) Native.asyncBegin(id, cookie);
    }

    public static void asyncEnd(int id, long cookie) {
        if (Native.ready) Native.asyncEnd(id, cookie);
    }

    public static void counter(int id, long value) {
        if (Native.ready) Native.counter(id, value);
    }

    public static void instant(int id) {
        if (Native.ready) Native.instant(id);
    }

    /**
     * The views that `inflater` makes are render work from now on, "inflate: android.widget.TextView"; an activity's
     * covers its dialogs and fragments, too. Call it in onCreate(), behind super.onCreate(). False where it may not be.
     */
    public static boolean traceInflation(LayoutInflater inflater) {
        return Native.ready && inflater != null && TracedInflation.install(inflater);
    }

    /** A state that every report tells, "screen" for example; null takes it back. */
    public static void setState(String key, String value) {
        if (Native.ready) Native.setState(key, value);
    }

    /** Everything that the app shows at its start is on the screen. */
    public static void fullyDrawn() {
        if (Native.ready) Native.fullyDrawn();
    }

    /** Seals the window up to now as a report. */
    public static int snapshot(String reason) {
        return Native.ready ? Native.snapshot(reason) : NOT_RUNNING;
    }

    /** Reports something that the app found too slow; times of System.nanoTime(). */
    public static int reportIncident(String what, long beginNs, long endNs) {
        return Native.ready ? Native.reportIncident(what, beginNs, endNs) : NOT_RUNNING;
    }

    /** Waits until all reports asked for are sealed. Not for the main thread. */
    public static boolean flush(int timeoutMs) {
        return !Native.ready || Native.flush(timeoutMs);
    }
}

package dev.jankbox;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What Jankbox is started with: fields of jankbox_options (jankbox.h) by their names, and what the Java side adds.
 * An app's code wins over its manifest's meta-data "dev.jankbox.NAME"; system properties "debug.jankbox.NAME" win
 * over both (the native side looks at them). Not thread-safe.
 */
public final class Options {
    // Of the Java side; everything else goes to the native one.
    static final String LOOPER_PRINTER = "looper_printer";
    static final String IDLE_HANDLERS = "idle_handlers";
    static final String JAVA_STACKS = "java_stacks";
    static final String JAVA_FRAMES = "java_frames";
    static final String PRINTER_RECHECK_MS = "printer_recheck_ms";
    static final String SYSTEM_TRACE = "system_trace";
    static final String AUTO_START = "auto_start";
    private static final String[] OWN = {
        LOOPER_PRINTER, IDLE_HANDLERS, JAVA_STACKS, JAVA_FRAMES, SYSTEM_TRACE, PRINTER_RECHECK_MS, AUTO_START,
    };

    private final Map<String, String> values = new LinkedHashMap<String, String>();

    /** Any option by its name, "slow_message_ms" for example. Checked by Jankbox.start(). */
    public Options set(String name, String value) {
        values.put(name, value);
        return this;
    }

    public Options set(String name, long value) {
        return set(name, Long.toString(value));
    }

    // The options of jankbox.h, under the same names. docs/options.md has ranges and defaults.

    /** Switches that are rarely needed: some of no_loop_hooks or none [none]. */
    public Options flags(String value) {
        return set("flags", value);
    }

    /** The folder of the reports [no_backup/jankbox of the app]. */
    public Options dir(String value) {
        return set("dir", value);
    }

    /** The app's name in reports [the package's name]. */
    public Options appName(String value) {
        return set("app_name", value);
    }

    /** The app's version in reports [the package's version]. */
    public Options appVersion(String value) {
        return set("app_version", value);
    }

    /** The base URL of the collector, such as https://jank.example.com [none: nothing is sent]. */
    public Options uploadUrl(String value) {
        return set("upload_url", value);
    }

    /** How far back a report looks, in milliseconds [10000]. */
    public Options windowMs(long value) {
        return set("window_ms", value);
    }

    /** The size limit of the ring file, in bytes [8388608]. */
    public Options ringBytes(long value) {
        return set("ring_bytes", value);
    }

    /** A dispatch that takes this many milliseconds is a slow message (as in Matrix) [700]. */
    public Options slowMessageMs(long value) {
        return set("slow_message_ms", value);
    }

    /** A UI thread that is blocked for this many milliseconds is not responding (as on Android) [5000]. */
    public Options anrMs(long value) {
        return set("anr_ms", value);
    }

    /**
     * A frame that drops this many intervals at 60 Hz becomes a report (Matrix' band "middle", 150 ms); at other
     * refresh rates the same time counts [9].
     */
    public Options jankDroppedFrames(long value) {
        return set("jank_dropped_frames", value);
    }

    /** Milliseconds between the stack samples of an overdue thread [5]. */
    public Options sampleIntervalMs(long value) {
        return set("sample_interval_ms", value);
    }

    /** Nothing is written if less than this many MiB would be left free [64]. */
    public Options minFreeMib(long value) {
        return set("min_free_mib", value);
    }

    /** The CPU time that Jankbox may use, recording included, in thousandths of one core [10]. */
    public Options cpuBudgetPermille(long value) {
        return set("cpu_budget_permille", value);
    }

    /** How events are recorded: governed, exact, coarse, ui_only or off [governed]. */
    public Options record(String value) {
        return set("record", value);
    }

    /** How markers that the process writes to trace_marker are handled: pass_on, keep or off [pass_on]. */
    public Options markers(String value) {
        return set("markers", value);
    }

    /**
     * Which categories are turned on in the program's atrace library, if it has one: off, auto (the categories of a
     * system trace and the app's own sections), names such as gfx,view,app, or their number (0x496e) [auto].
     */
    public Options atrace(String value) {
        return set("atrace", value);
    }

    /** Events that hooks in the host's libraries record: some of threads, io, locks or off [threads,io,locks]. */
    public Options sources(String value) {
        return set("sources", value);
    }

    /** Whether the kernel's events of this process are recorded: auto, on or off [auto]. */
    public Options ftrace(String value) {
        return set("ftrace", value);
    }

    /** The size of the kernel's buffer for each CPU, in KiB; at most 16 MiB in total [1024]. */
    public Options ftraceBufferKib(long value) {
        return set("ftrace_buffer_kib", value);
    }

    /** The most reports that are written in 24 hours, over restarts; a quarter more for ANRs and the like [100]. */
    public Options reportsADay(long value) {
        return set("reports_a_day", value);
    }

    /** Which incidents of one cause become reports: exemplars or every [exemplars]. */
    public Options repeats(String value) {
        return set("repeats", value);
    }

    /**
     * A dispatch that takes this many milliseconds is a lag, which is between slow and not responding (as in Matrix)
     * [2000].
     */
    public Options lagMs(long value) {
        return set("lag_ms", value);
    }

    /** As anr_ms, while the app is in the background (as in Matrix) [10000]. */
    public Options anrBackgroundMs(long value) {
        return set("anr_background_ms", value);
    }

    /** Whether SIGQUIT makes Jankbox check the UI thread at once: on or off [on]. */
    public Options sigquit(String value) {
        return set("sigquit", value);
    }

    /**
     * Threads besides the main one whose event loops are watched, by name: render,io-*. A * at the end of a name
     * matches any rest; * only matches all threads.
     */
    public Options watchThreads(String value) {
        return set("watch_threads", value);
    }

    /** An input event that waits this many milliseconds is an incident (as in Matrix) [2000]. */
    public Options inputLatencyMs(long value) {
        return set("input_latency_ms", value);
    }

    /** How many messages before an incident its report lists one by one [200]. */
    public Options historyMessages(long value) {
        return set("history_messages", value);
    }

    /** Which frames become reports: bands, jankstats or deadline [bands]. */
    public Options framePolicy(String value) {
        return set("frame_policy", value);
    }

    /**
     * The libraries whose frames are noticed without a call: some of choreographer, gtk, sdl, swap or off
     * [gtk,sdl,swap].
     */
    public Options frameSources(String value) {
        return set("frame_sources", value);
    }

    /** A start of the process that takes this many milliseconds to its first frame is slow (as in Matrix) [10000]. */
    public Options coldStartMs(long value) {
        return set("cold_start_ms", value);
    }

    /** A return to the foreground that takes this many milliseconds to the next frame is slow (as in Matrix) [4000]. */
    public Options warmStartMs(long value) {
        return set("warm_start_ms", value);
    }

    /**
     * A file of lines such as slow_message_ms = 300, # starts a comment: the options that may change while recording.
     */
    public Options configFile(String value) {
        return set("config_file", value);
    }

    /** How stack samples are taken: auto, perf, proc or signal [auto]. */
    public Options sampler(String value) {
        return set("sampler", value);
    }

    /** The trace clock of the kernel's events, by its name in tracefs. */
    public Options ftraceClock(String value) {
        return set("ftrace_clock", value);
    }

    /** The path of an atrace library that is loaded if the program has none. */
    public Options atraceLibrary(String value) {
        return set("atrace_library", value);
    }

    /**
     * The absolute path of a file of lines key=value that replaces Android's system properties; it is read once a
     * second.
     */
    public Options propertiesFile(String value) {
        return set("properties_file", value);
    }

    /** Whether reports name the JavaScript functions of a Node.js program with --perf-basic-prof: on or off [off]. */
    public Options jsNames(String value) {
        return set("js_names", value);
    }

    /** A recorded call outside of any dispatch that takes this many milliseconds is a slow method; 0 is off [700]. */
    public Options slowMethodMs(long value) {
        return set("slow_method_ms", value);
    }

    /** The threads whose slow methods are reported: watched or all [watched]. */
    public Options slowMethodThreads(String value) {
        return set("slow_method_threads", value);
    }

    /**
     * Whether foreground time, sessions, frames and messages are counted by day and sent with the counts of incidents:
     * on or off [on].
     */
    public Options usage(String value) {
        return set("usage", value);
    }

    /**
     * How reports have the names, markers, states and other texts of the app: cleaned or as_written [cleaned].
     */
    public Options texts(String value) {
        return set("texts", value);
    }

    /** Whether messages of the main Looper are seen through its printer [true]. */
    public Options looperPrinter(boolean on) {
        return set(LOOPER_PRINTER, Boolean.toString(on));
    }

    /** Whether idle handlers of the main Looper's queue are seen, where its printer is, too [true]. */
    public Options idleHandlers(boolean on) {
        return set(IDLE_HANDLERS, Boolean.toString(on));
    }

    /** Whether Java stacks of the main thread are taken while a message is overdue [true]. */
    public Options javaStacks(boolean on) {
        return set(JAVA_STACKS, Boolean.toString(on));
    }

    /** Whether frames are seen through FrameMetrics, before API 24 the Choreographer [true]. */
    public Options javaFrames(boolean on) {
        return set(JAVA_FRAMES, Boolean.toString(on));
    }

    /** Whether Android's own trace of the system at an ANR is kept beside the reports, from API 36 on [false]. */
    public Options systemTrace(boolean on) {
        return set(SYSTEM_TRACE, Boolean.toString(on));
    }

    /** Sets what is not set yet. */
    void addDefault(String name, String value) {
        if (value != null && !values.containsKey(name)) values.put(name, value);
    }

    /** Null where it is not set. */
    String text(String name) {
        return values.get(name);
    }

    boolean isOn(String name, boolean otherwise) {
        String value = values.get(name);
        return value == null ? otherwise : Boolean.parseBoolean(value);
    }

    long number(String name, long otherwise) {
        String value = values.get(name);
        try {
            return value == null ? otherwise : Long.parseLong(value);
        } catch (NumberFormatException notANumber) {
            return otherwise; // the native side refuses its own; ours have nothing to refuse
        }
    }

    Options copy() {
        Options copy = new Options();
        copy.values.putAll(values);
        return copy;
    }

    /** Name, value, name, value, … of what the native side knows. */
    String[] forNative() {
        Map<String, String> rest = new LinkedHashMap<String, String>(values);
        for (String own : OWN) rest.remove(own);
        String[] flat = new String[2 * rest.size()];
        int at = 0;
        for (Map.Entry<String, String> entry : rest.entrySet()) {
            flat[at++] = entry.getKey();
            flat[at++] = entry.getValue();
        }
        return flat;
    }
}

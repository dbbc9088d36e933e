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

    /** Folder of sealed reports [no_backup/jankbox of the app]. */
    public Options dir(String path) {
        return set("dir", path);
    }

    /** The collector's base URL [none: nothing is sent]. */
    public Options uploadUrl(String url) {
        return set("upload_url", url);
    }

    /** One message is too slow [700]. */
    public Options slowMessageMs(int ms) {
        return set("slow_message_ms", ms);
    }

    /** Between slow and not responding [2000]. */
    public Options lagMs(int ms) {
        return set("lag_ms", ms);
    }

    /** The UI thread is not responding [5000]. */
    public Options anrMs(int ms) {
        return set("anr_ms", ms);
    }

    /** How much a report looks back [10000]. */
    public Options windowMs(int ms) {
        return set("window_ms", ms);
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

package dev.jankbox;

import android.annotation.TargetApi;
import android.content.Context;
import android.os.Build;
import android.os.ProfilingManager;
import android.os.ProfilingResult;
import android.os.ProfilingTrigger;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Traces of the whole system that Android takes if this app does not respond (ProfilingManager's triggers, API 36),
 * kept beside our reports as "system-MILLISECONDS.pftrace" for `jankbox merge`. On request (option "system_trace"). The
 * system's own limits apply too: it may give none. Copies on a thread of its own.
 */
@TargetApi(36)
final class SystemTraces implements Consumer<ProfilingResult>, Executor {
    private static final String PREFIX = "system-";
    private static final String SUFFIX = ".pftrace";
    private static final int MAX_KEPT = 2;
    private static final long MAX_BYTES = 16 << 20; // of each; redacted traces have some MiB
    private static final long MIN_FREE_BYTES = 64 << 20; // as min_free_mib
    private static final int BETWEEN_HOURS = 1;

    private final ProfilingManager profiling;
    private final File folder;

    private SystemTraces(ProfilingManager profiling, File folder) {
        this.profiling = profiling;
        this.folder = folder;
    }

    /** Null if the system has no such thing. */
    static SystemTraces start(Context context, String folder) {
        if (Build.VERSION.SDK_INT < 36 || folder == null) return null;
        try {
            ProfilingManager profiling = context.getSystemService(ProfilingManager.class);
            if (profiling == null) return null;
            SystemTraces traces = new SystemTraces(profiling, new File(folder));
            profiling.registerForAllProfilingResults(traces, traces);
            profiling.addProfilingTriggers(Collections.singletonList(
                    new ProfilingTrigger.Builder(ProfilingTrigger.TRIGGER_TYPE_ANR)
                            .setRateLimitingPeriodHours(BETWEEN_HOURS)
                            .build()));
            return traces;
        } catch (RuntimeException | LinkageError notThere) {
            return null;
        }
    }

    void stop() {
        try {
            profiling.removeProfilingTriggersByType(new int[] {ProfilingTrigger.TRIGGER_TYPE_ANR});
            profiling.unregisterForAllProfilingResults(this);
        } catch (RuntimeException gone) {
            // with the system's service
        }
    }

    @Override
    public void execute(Runnable command) {
        Thread thread = new Thread(command, "jankbox-system");
        thread.setDaemon(true);
        thread.start();
    }

    /** Other results are the app's own. */
    @Override
    public void accept(ProfilingResult result) {
        if (result.getErrorCode() != ProfilingResult.ERROR_NONE || result.getResultFilePath() == null) return;
        if (result.getTriggerType() != ProfilingTrigger.TRIGGER_TYPE_ANR) return;
        try {
            keep(new File(result.getResultFilePath()));
        } catch (IOException | RuntimeException notReadable) {
            // then there is none
        }
    }

    private synchronized void keep(File trace) throws IOException {
        long bytes = trace.length();
        if (bytes == 0 || bytes > MAX_BYTES || folder.getUsableSpace() < bytes + MIN_FREE_BYTES) return;
        File partial = new File(folder, PREFIX + "partial");
        try {
            copy(trace, partial);
            makeRoom();
            partial.renameTo(new File(folder, PREFIX + System.currentTimeMillis() + SUFFIX));
        } finally {
            partial.delete(); // if it did not get its name
        }
    }

    private static void copy(File from, File to) throws IOException {
        byte[] buffer = new byte[1 << 16];
        try (FileInputStream in = new FileInputStream(from); FileOutputStream out = new FileOutputStream(to)) {
            for (int read = in.read(buffer); read > 0; read = in.read(buffer)) out.write(buffer, 0, read);
            out.getChannel().force(true);
        }
    }

    /** For one more. */
    private void makeRoom() {
        String[] names = folder.list();
        if (names == null) return;
        Arrays.sort(names); // the oldest first: milliseconds have 13 digits until the year 2286
        int kept = 0;
        for (int i = names.length - 1; i >= 0; --i) {
            boolean ours = names[i].startsWith(PREFIX) && names[i].endsWith(SUFFIX);
            if (ours && ++kept >= MAX_KEPT) new File(folder, names[i]).delete();
        }
    }
}

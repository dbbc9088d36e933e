package dev.jankbox;

import android.os.ProfilingManager;
import android.os.ProfilingResult;
import android.os.ProfilingTrigger;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Arrays;

/** Results of the system's profiling, as it would hand them to an app: those of an ANR are kept, two of them. */
final class AnrTraces {
    private AnrTraces() {}

    static void run(GalleryApp app) throws IOException {
        ProfilingManager system = app.profiling;
        System.out.println("triggers " + system.triggers.size());
        if (system.listener == null) return;
        File folder = new File(app.getNoBackupFilesDir(), "jankbox");
        for (String content : new String[] {"first", "second", "third"}) {
            system.listener.accept(result(0, ProfilingTrigger.TRIGGER_TYPE_ANR, content, content.length()));
            Scenario.sleep(5); // another millisecond, another name
        }
        system.listener.accept(result(0, ProfilingTrigger.TRIGGER_TYPE_NONE, "the app's own", 13));
        system.listener.accept(result(ProfilingResult.ERROR_UNKNOWN, ProfilingTrigger.TRIGGER_TYPE_ANR, "failed", 6));
        system.listener.accept(result(0, ProfilingTrigger.TRIGGER_TYPE_ANR, "too long", 17 << 20));
        String[] names = folder.list();
        Arrays.sort(names);
        StringBuilder kept = new StringBuilder("kept");
        for (String name : names) {
            if (!name.startsWith("system-")) continue;
            kept.append(" ").append(new String(Files.readAllBytes(new File(folder, name).toPath()), "UTF-8"));
        }
        System.out.println(kept);
    }

    private static ProfilingResult result(int error, int trigger, String content, long bytes) throws IOException {
        File file = File.createTempFile("profiling", ".perfetto-trace");
        file.deleteOnExit();
        Files.write(file.toPath(), content.getBytes("UTF-8"));
        try (RandomAccessFile longer = new RandomAccessFile(file, "rw")) {
            longer.setLength(bytes);
        }
        return new ProfilingResult(error, trigger, file.getPath());
    }
}

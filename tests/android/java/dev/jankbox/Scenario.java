package dev.jankbox;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.Trace;
import android.util.Printer;
import android.view.Choreographer;

import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * A program around AOSP's real main Looper with Jankbox in it: Scenario POLL_LAYER REPORT_FOLDER NAME. Its Java main thread is the
 * Looper's; what happens is posted by another thread. Prints what a test wants to know.
 */
public final class Scenario {
    private static final long RECHECK_MS = 300;
    private static final int MESSAGES = 100_000;

    private final Work work = new Work();
    private int lines; // that a printer which is not ours has got

    /** What an app's handler does, by the message's number. */
    private static final class Work extends Handler {
        static final int SLOW = 7;
        static final int HANG = 8;
        static final int QUICK = 9;

        Work() {
            super(Looper.getMainLooper());
        }

        @Override
        public void handleMessage(Message message) {
            if (message.what == SLOW) sleep(400);
            if (message.what != HANG) return;
            System.out.println("hanging");
            Album.loadEverything();
        }
    }

    /** The blamed message. */
    private static final class Album {
        static void loadEverything() {
            for (int i = 0; i < 25; ++i) decode(i);
        }

        static void decode(int picture) {
            sleep(100);
        }
    }

    public static void main(String[] arguments) {
        System.load(arguments[0]);
        final String folder = arguments[1];
        final String name = arguments[2];
        Looper.prepareMainLooper();
        final Scenario scenario = new Scenario();
        scenario.before(name);
        final GalleryApp app = name.equals("app") || name.equals("shown_late") ? new GalleryApp(folder) : null;
        if (app != null) {
            check(Jankbox.start(app, null));
        } else {
            start(folder, name.equals("waits") ? 600 : 200);
        }
        new Thread("driver") {
            @Override
            public void run() {
                try {
                    if (name.equals("shown_late")) sleep(1000);
                    if (app != null) scenario.show(app);
                    if (app != null) AnrTraces.run(app);
                    scenario.run(name);
                } catch (Throwable failure) {
                    failure.printStackTrace();
                    System.exit(1);
                }
                Jankbox.stop();
                System.exit(0);
            }
        }.start();
        Looper.loop();
    }

    private static void start(String folder, int slowMessageMs) {
        Options options = new Options()
                .dir(folder)
                .slowMessageMs(slowMessageMs)
                .lagMs(800)
                .anrMs(1000)
                .set("repeats", 1)
                .set("ftrace", 1)
                .set("min_free_mib", "max")
                .set(Options.PRINTER_RECHECK_MS, RECHECK_MS);
        String uploadUrl = System.getProperty("upload_url");
        if (uploadUrl != null) options.uploadUrl(uploadUrl);
        check(Jankbox.start(options));
    }

    private static void check(int code) {
        if (code == Jankbox.OK) return;
        System.err.println("start: " + code + " " + Jankbox.lastError());
        System.exit(1);
    }

    /** Before Jankbox is there, on the Looper's thread. */
    private void before(String name) {
        if (name.equals("idle")) IdleWork.addEarly();
        if (name.equals("nested")) {
            final Printer inner = counter();
            Looper.getMainLooper().setMessageLogging(new Printer() {
                @Override
                public void println(String line) {
                    inner.println(line);
                    ++lines;
                }
            });
        }
    }

    private void run(String name) throws Exception {
        switch (name) {
            case "slow": slow(); break;
            case "app": slow(); break;
            case "shown_late": break;
            case "nested": slow(); break;
            case "foreign": foreign(); break;
            case "other_loader": otherLoader(); break;
            case "anr":
            case "killed": message(Work.HANG); break;
            case "many": many(); break;
            case "frames": frames(); break;
            case "long_name": longName(); break;
            case "stop_uploading": stopUploading(); break;
            case "idle": IdleWork.run(this); break;
            case "waits": Waits.run(this); break;
            case "inflate": Inflation.run(this); break;
            case "mistake": TestNatives.mistake(); break;
            default: throw new IllegalArgumentException(name);
        }
        sleep(200); // what just ended is judged at the watcher's next looks
        Jankbox.flush(25_000);
        System.out.println("foreign lines " + lines);
    }

    /** An activity comes to the front, and one of its frames is late. */
    private void show(final GalleryApp app) throws InterruptedException {
        final GalleryApp.Gallery gallery = new GalleryApp.Gallery();
        onLooper(new Runnable() {
            @Override
            public void run() {
                app.callbacks().onActivityStarted(gallery);
                app.callbacks().onActivityResumed(gallery);
            }
        });
        for (int i = 0; i < 30; ++i) {
            final boolean late = i == 20;
            onLooper(new Runnable() {
                @Override
                public void run() {
                    if (late) sleep(190);
                    gallery.window.show(late ? 190_000_000 : 8_000_000);
                }
            });
            sleep(16);
        }
    }

    private void slow() throws InterruptedException {
        message(Work.QUICK);
        message(Work.SLOW);
        System.out.println("app sections " + Trace.isTagEnabled(Trace.TRACE_TAG_APP));
    }

    /** Another tool takes the printer's place: what happens then is lost, until the Looper was idle for once. */
    private void foreign() throws InterruptedException {
        onLooper(new Runnable() {
            @Override
            public void run() {
                Looper.getMainLooper().setMessageLogging(counter());
            }
        });
        message(Work.SLOW); // not seen
        sleep(2 * RECHECK_MS);
        message(Work.QUICK); // the Looper is idle after it
        sleep(100);
        message(Work.SLOW); // seen again
        onLooper(new Runnable() {
            @Override
            public void run() {
                System.out.println("chain " + chain());
            }
        });
        sleep(2 * RECHECK_MS);
        message(Work.QUICK);
        sleep(100);
        onLooper(new Runnable() {
            @Override
            public void run() {
                System.out.println("chain " + chain());
            }
        });
    }

    private void otherLoader() throws Exception {
        URL classes = Scenario.class.getProtectionDomain().getCodeSource().getLocation();
        // Our own classes again; Android's are the same ones.
        ClassLoader other = new URLClassLoader(new URL[] {classes}, Scenario.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith("dev.jankbox.")) return super.loadClass(name, resolve);
                Class<?> known = findLoadedClass(name);
                return known != null ? known : findClass(name);
            }
        };
        Constructor<?> constructor =
                Class.forName(LooperPrinter.class.getName(), true, other).getDeclaredConstructor(Printer.class);
        constructor.setAccessible(true);
        final Printer theirs = (Printer) constructor.newInstance(counter());
        System.out.println("same class " + (theirs.getClass() == LooperPrinter.class));
        onLooper(new Runnable() {
            @Override
            public void run() {
                Looper.getMainLooper().setMessageLogging(theirs);
            }
        });
        sleep(2 * RECHECK_MS);
        message(Work.QUICK);
        sleep(100);
        onLooper(new Runnable() {
            @Override
            public void run() {
                System.out.println("left alone " + (LooperMonitor.lookAtPrinter() == 2));
            }
        });
    }

    /** Callbacks print what they like. */
    private void longName() throws InterruptedException {
        for (final int length : new int[] {100, 1000}) {
            final CountDownLatch done = new CountDownLatch(1);
            work.post(new Runnable() {
                @Override
                public void run() {
                    sleep(400);
                    done.countDown();
                }

                @Override
                public String toString() {
                    StringBuilder text = new StringBuilder("Größe");
                    while (text.length() < length) text.append('x');
                    return text.toString();
                }
            });
            done.await();
            sleep(100);
        }
    }

    /** A server that does not answer holds up nobody who stops. */
    private void stopUploading() throws InterruptedException {
        message(Work.SLOW);
        while (!waitsForAnAnswer()) sleep(20); // the post is under way
        long beganNs = System.nanoTime();
        Jankbox.stop();
        System.out.println("stopped " + (System.nanoTime() - beganNs) / 1_000_000);
    }

    private static boolean waitsForAnAnswer() {
        for (StackTraceElement[] stack : Thread.getAllStackTraces().values()) {
            String text = Arrays.toString(stack);
            if (text.contains("HttpURLConnection.getResponseCode") && text.contains("SocketInputStream")) return true;
        }
        return false;
    }

    private void many() throws InterruptedException {
        for (int i = 0; i < MESSAGES; ++i) {
            // Posted faster than handled they would pile up.
            if (i % 1000 == 0) message(Work.QUICK);
            else work.sendEmptyMessage(Work.QUICK);
        }
        message(Work.SLOW); // its report says what was before
    }

    /** Frames that an app asks for, on the real Choreographer; one of them is late. */
    private void frames() throws InterruptedException {
        final int frames = 30;
        final CountDownLatch done = new CountDownLatch(frames);
        final ChoreographerFrames[] watch = new ChoreographerFrames[1];
        onLooper(new Runnable() {
            @Override
            public void run() {
                watch[0] = ChoreographerFrames.start();
                Choreographer.getInstance().postFrameCallback(new Choreographer.FrameCallback() {
                    @Override
                    public void doFrame(long frameTimeNanos) {
                        if (done.getCount() == 10) sleep(190);
                        done.countDown();
                        if (done.getCount() > 0) Choreographer.getInstance().postFrameCallback(this);
                    }
                });
            }
        });
        done.await();
        System.out.println("watched " + (watch[0] != null));
        Jankbox.snapshot("frames");
    }

    private Printer counter() {
        return new Printer() {
            @Override
            public void println(String line) {
                ++lines;
            }
        };
    }

    /** Who prints, outermost first. On the Looper's thread. */
    private static String chain() {
        StringBuilder chain = new StringBuilder();
        Printer printer = LooperMonitor.lookAtPrinter() == 1 ? LooperMonitor.ours : null;
        while (printer instanceof LooperPrinter) {
            chain.append("ours ");
            printer = ((LooperPrinter) printer).previous;
        }
        return chain.append(printer == null ? "nobody" : "another").toString();
    }

    void message(int what) throws InterruptedException {
        work.sendEmptyMessage(what);
        onLooper(new Runnable() {
            @Override
            public void run() {}
        });
    }

    /** Runs `action` as a message and waits for its end. */
    void onLooper(Runnable action) throws InterruptedException {
        post(action).await();
    }

    /** Runs `action` as a message; zero when it has ended. */
    CountDownLatch post(final Runnable action) {
        final CountDownLatch done = new CountDownLatch(1);
        work.post(new Runnable() {
            @Override
            public void run() {
                action.run();
                done.countDown();
            }
        });
        return done;
    }

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}

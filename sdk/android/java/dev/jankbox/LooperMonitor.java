package dev.jankbox;

import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.os.SystemClock;
import android.util.Printer;

import java.lang.reflect.Field;

/**
 * One Looper's messages as dispatches: our printer in its mLogging, and a poll at every idle moment whether it is still
 * there. All of it on the Looper's thread but start() and stop().
 */
final class LooperMonitor implements MessageQueue.IdleHandler {
    // monitors/looper/printer_host.h: Holder.
    private static final int NOBODY = 0;
    private static final int OURS = 1;
    private static final int OUR_CLASS = 2;
    private static final int SOMEBODY = 3;
    private static final int UNREADABLE = 4;

    /** The printer that counts; null before the first attach. */
    static volatile LooperPrinter ours;

    private static LooperMonitor current; // of the watched Looper's thread

    private final Looper looper;
    private final long recheckMs;
    private final boolean wantsIdleHandlers;
    private Field logging;
    private IdleHandlers idleHandlers; // null: not seen
    private boolean stopped;

    LooperMonitor(Looper looper, long recheckMs, boolean wantsIdleHandlers) {
        this.looper = looper;
        this.recheckMs = recheckMs;
        this.wantsIdleHandlers = wantsIdleHandlers;
    }

    void start() {
        onLooper(new Runnable() {
            @Override
            public void run() {
                if (current != null || stopped) return;
                current = LooperMonitor.this;
                Native.attachLooper(SystemClock.uptimeMillis(), recheckMs);
                if (wantsIdleHandlers) idleHandlers = IdleHandlers.install(Looper.myQueue());
                Looper.myQueue().addIdleHandler(LooperMonitor.this);
            }
        });
    }

    void stop() {
        onLooper(new Runnable() {
            @Override
            public void run() {
                stopped = true;
                if (current != LooperMonitor.this) return;
                Native.detachLooper();
                Looper.myQueue().removeIdleHandler(LooperMonitor.this);
                if (idleHandlers != null) idleHandlers.uninstall();
                current = null;
            }
        });
    }

    @Override
    public boolean queueIdle() {
        if (stopped) return false;
        Native.looperIdle(SystemClock.uptimeMillis());
        return true;
    }

    static int lookAtPrinter() {
        Printer printer;
        try {
            printer = (Printer) current.logging().get(current.looper);
        } catch (ReflectiveOperationException | RuntimeException notPermitted) {
            return UNREADABLE;
        }
        if (printer == null) return NOBODY;
        if (printer == ours) return OURS;
        return printer.getClass().getName().equals(LooperPrinter.class.getName()) ? OUR_CLASS : SOMEBODY;
    }

    static void installPrinter(boolean chained) {
        Printer previous = null;
        if (chained) {
            try {
                previous = (Printer) current.logging().get(current.looper);
            } catch (ReflectiveOperationException | RuntimeException notPermitted) {
                return; // it was readable a moment ago; nothing is replaced that cannot be chained
            }
        }
        ours = new LooperPrinter(previous);
        current.looper.setMessageLogging(ours);
    }

    static void uninstallPrinter() {
        current.looper.setMessageLogging(ours.previous);
    }

    private Field logging() throws ReflectiveOperationException {
        if (logging == null) {
            Field field = Looper.class.getDeclaredField("mLogging");
            field.setAccessible(true);
            logging = field;
        }
        return logging;
    }

    private void onLooper(Runnable action) {
        if (Looper.myLooper() == looper) {
            action.run();
        } else {
            new Handler(looper).postAtFrontOfQueue(action);
        }
    }
}

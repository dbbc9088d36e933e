package dev.jankbox;

import android.os.SystemClock;
import android.view.Choreographer;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Frames of the Choreographer before there was FrameMetrics (API 24): Jankbox's callbacks are first in its input queue
 * and last in its last one, so that they see each frame that others asked for, and ask for none. By reflection, as
 * there is no public way that does not wake the thread at every vsync. On the Choreographer's thread.
 */
final class ChoreographerFrames {
    private static final long BEFORE_ALL = -1; // a due time; queues are sorted by it

    private final Choreographer choreographer = Choreographer.getInstance();
    private final Object lock;
    private final Object[] queues;
    private final Method addCallback;
    private final Field frameInterval;
    private final Field lastFrameTime;
    private volatile boolean stopped;
    private long vsyncNs;
    private long beginNs;

    private final Runnable begin = new Runnable() {
        @Override
        public void run() {
            if (stopped) return;
            beginNs = System.nanoTime();
            vsyncNs = read(lastFrameTime);
            add(queues.length - 1, SystemClock.uptimeMillis(), end);
        }
    };
    private final Runnable end = new Runnable() {
        @Override
        public void run() {
            if (stopped) return;
            Native.frame(vsyncNs, 0, read(frameInterval), beginNs, System.nanoTime());
            add(0, BEFORE_ALL, begin);
        }
    };

    private ChoreographerFrames() throws ReflectiveOperationException {
        lock = field("mLock").get(choreographer);
        Object all = field("mCallbackQueues").get(choreographer);
        queues = new Object[Array.getLength(all)];
        for (int i = 0; i < queues.length; ++i) queues[i] = Array.get(all, i);
        addCallback = queues[0].getClass()
                .getDeclaredMethod("addCallbackLocked", long.class, Object.class, Object.class);
        addCallback.setAccessible(true);
        frameInterval = field("mFrameIntervalNanos");
        lastFrameTime = field("mLastFrameTimeNanos");
    }

    /** Sees frames from now on; null if that is not permitted. */
    static ChoreographerFrames start() {
        try {
            ChoreographerFrames frames = new ChoreographerFrames();
            frames.add(0, BEFORE_ALL, frames.begin);
            return frames;
        } catch (ReflectiveOperationException | RuntimeException notPermitted) {
            return null;
        }
    }

    void stop() {
        stopped = true;
    }

    private void add(int queue, long dueMs, Runnable action) {
        try {
            synchronized (lock) {
                addCallback.invoke(queues[queue], dueMs, action, null);
            }
        } catch (ReflectiveOperationException notPermitted) {
            stopped = true;
        }
    }

    private long read(Field field) {
        try {
            return field.getLong(choreographer);
        } catch (IllegalAccessException notPermitted) {
            return 0;
        }
    }

    private static Field field(String name) throws ReflectiveOperationException {
        Field field = Choreographer.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}

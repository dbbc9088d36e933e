package dev.jankbox;

import android.os.Build;
import android.os.MessageQueue;

import java.lang.reflect.Field;
import java.util.ArrayList;

/**
 * The idle handlers of the watched Looper's queue, each of them reported when it begins and ends. Stands in
 * MessageQueue.mIdleHandlers, as there is no public way to see them, and wraps what is in it; as Matrix does. Guarded
 * by the queue's own lock, like the list in whose place it is.
 */
final class IdleHandlers extends ArrayList<MessageQueue.IdleHandler> {
    private static final int CONCURRENT_QUEUE = 36; // API level from which the list may have a lock of its own

    private final transient MessageQueue queue;
    private final transient Object lock;
    private final transient Field field;
    private final transient ArrayList<MessageQueue.IdleHandler> previous;

    private IdleHandlers(MessageQueue queue, Object lock, Field field, ArrayList<MessageQueue.IdleHandler> previous) {
        this.queue = queue;
        this.lock = lock;
        this.field = field;
        this.previous = previous;
        for (MessageQueue.IdleHandler handler : previous) add(handler);
    }

    /** Sees those that are there and those that come. Null if it may not, or another tool's list is there. */
    static IdleHandlers install(MessageQueue queue) {
        try {
            Field field = field("mIdleHandlers");
            Object lock = Build.VERSION.SDK_INT < CONCURRENT_QUEUE ? queue : field("mIdleHandlersLock").get(queue);
            synchronized (queue) {
                synchronized (lock) {
                    Object there = field.get(queue);
                    if (there == null || there.getClass() != ArrayList.class) return null;
                    @SuppressWarnings("unchecked")
                    ArrayList<MessageQueue.IdleHandler> previous = (ArrayList<MessageQueue.IdleHandler>) there;
                    IdleHandlers ours = new IdleHandlers(queue, lock, field, previous);
                    field.set(queue, ours);
                    return ours;
                }
            }
        } catch (ReflectiveOperationException | RuntimeException notPermitted) {
            return null;
        }
    }

    /** Restores the previous list, unless another tool replaced this one: then this one continues after it. */
    void uninstall() {
        synchronized (queue) {
            synchronized (lock) {
                try {
                    if (field.get(queue) != this) return;
                    previous.clear();
                    for (MessageQueue.IdleHandler handler : this) previous.add(unwrapped(handler));
                    field.set(queue, previous);
                } catch (ReflectiveOperationException | RuntimeException notPermitted) {
                    // it was a moment ago; this list stays
                }
            }
        }
    }

    @Override
    public boolean add(MessageQueue.IdleHandler handler) {
        // Jankbox's check of the printer is not part of the app's work.
        return super.add(handler instanceof Timed || handler instanceof LooperMonitor ? handler : new Timed(handler));
    }

    /** Of an app's handler, or of a wrapper that has run for the last time. */
    @Override
    public boolean remove(Object handler) {
        boolean plain = handler instanceof MessageQueue.IdleHandler && !(handler instanceof Timed);
        return super.remove(plain ? new Timed((MessageQueue.IdleHandler) handler) : handler);
    }

    private static MessageQueue.IdleHandler unwrapped(MessageQueue.IdleHandler handler) {
        return handler instanceof Timed ? ((Timed) handler).handler : handler;
    }

    private static Field field(String name) throws ReflectiveOperationException {
        Field field = MessageQueue.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** Equal to what it wraps, so that the queue finds it in the list that was there before, too. */
    private static final class Timed implements MessageQueue.IdleHandler {
        final MessageQueue.IdleHandler handler;
        private final String name;

        Timed(MessageQueue.IdleHandler handler) {
            this.handler = handler;
            name = nameOf(handler.getClass());
        }

        @Override
        public boolean queueIdle() {
            Native.idleBegin(name);
            try {
                return handler.queueIdle();
            } finally {
                Native.idleEnd();
            }
        }

        @Override
        public boolean equals(Object other) {
            return handler.equals(other instanceof Timed ? ((Timed) other).handler : other);
        }

        @Override
        public int hashCode() {
            return handler.hashCode();
        }

        /** Without its package, as messages are named. */
        private static String nameOf(Class<?> handlerClass) {
            String name = handlerClass.getName();
            int inner = name.indexOf('$');
            return name.substring(name.lastIndexOf('.', inner < 0 ? name.length() : inner) + 1);
        }
    }
}

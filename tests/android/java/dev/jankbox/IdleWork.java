package dev.jankbox;

import android.os.Looper;
import android.os.MessageQueue;

import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Idle handlers that an app has, on the real MessageQueue: before Jankbox, slow, throwing, taken back. */
final class IdleWork {
    private static final Early early = new Early();

    private IdleWork() {}

    private static final class Early implements MessageQueue.IdleHandler {
        int runs;

        @Override
        public boolean queueIdle() {
            ++runs;
            return true;
        }
    }

    /** Runs once, as the queue takes back what returns false. */
    private static class Once implements MessageQueue.IdleHandler {
        final CountDownLatch done = new CountDownLatch(1);

        @Override
        public boolean queueIdle() {
            done.countDown();
            return false;
        }
    }

    private static final class Refill extends Once {
        @Override
        public boolean queueIdle() {
            Scenario.sleep(2100);
            return super.queueIdle();
        }
    }

    private static final class Throws extends Once {
        @Override
        public boolean queueIdle() {
            super.queueIdle();
            throw new IllegalStateException("idle");
        }
    }

    static void addEarly() {
        Looper.myQueue().addIdleHandler(early);
    }

    static void run(Scenario scenario) throws Exception {
        final MessageQueue queue = Looper.getMainLooper().getQueue();
        final Once taken = new Once();
        final Throws failing = new Throws();
        final Refill refill = new Refill();
        final int before = early.runs;
        scenario.onLooper(new Runnable() {
            @Override
            public void run() {
                queue.addIdleHandler(taken);
                queue.removeIdleHandler(taken);
                queue.addIdleHandler(failing);
            }
        });
        failing.done.await();
        Scenario.sleep(1200); // had it not ended, it would be the one that does not respond
        queue.addIdleHandler(refill);
        scenario.onLooper(new Runnable() {
            @Override
            public void run() {}
        });
        refill.done.await();
        Scenario.sleep(100);
        System.out.println("early ran " + (early.runs > before) + ", taken ran " + (taken.done.getCount() == 0));
        System.out.println("while it runs " + list(queue));
        Jankbox.flush(25_000);
        Jankbox.stop();
        scenario.onLooper(new Runnable() {
            @Override
            public void run() {}
        });
        System.out.println("behind it " + list(queue));
    }

    private static String list(MessageQueue queue) throws ReflectiveOperationException {
        Field field = MessageQueue.class.getDeclaredField("mIdleHandlers");
        field.setAccessible(true);
        StringBuilder text = new StringBuilder();
        synchronized (queue) {
            text.append(field.get(queue).getClass().getSimpleName());
            for (Object handler : (List<?>) field.get(queue)) text.append(" ").append(handler.getClass().getSimpleName());
        }
        return text.toString();
    }
}

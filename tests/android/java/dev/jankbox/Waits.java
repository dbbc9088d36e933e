package dev.jankbox;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** Messages that wait: for a lock and a monitor that another thread has, and for a notify(). */
final class Waits {
    private static final long MS = 500;

    private Waits() {}

    static void run(Scenario scenario) throws InterruptedException {
        final ReentrantLock lock = new ReentrantLock();
        final Object monitor = new Object();
        // A quarter of what holds from now on is what the stacks are taken by.
        Jankbox.configure(new Options().slowMessageMs(200).lagMs(800));
        Scenario.sleep(MS); // a busy machine's Jankbox knows its clock by then
        System.out.println("slow from " + Native.slowMessageMs() + " ms");
        lock.lock();
        CountDownLatch done = scenario.post(new Runnable() {
            @Override
            public void run() {
                lock.lock();
                lock.unlock();
            }
        });
        Scenario.sleep(MS);
        lock.unlock();
        done.await();
        synchronized (monitor) {
            done = scenario.post(new Runnable() {
                @Override
                public void run() {
                    synchronized (monitor) {
                        monitor.notifyAll();
                    }
                }
            });
            Scenario.sleep(MS);
        }
        done.await();
        scenario.onLooper(new Runnable() {
            @Override
            public void run() {
                waitFor(monitor);
            }
        });
    }

    private static void waitFor(Object monitor) {
        try {
            synchronized (monitor) {
                monitor.wait(MS);
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}

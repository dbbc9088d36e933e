package dev.jankbox;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** The waits of one thread during one message, from the VM's public data about a thread. Not thread-safe. */
final class SampledWaits {
    private final Map<String, int[]> counts = new HashMap<String, int[]>();
    private int samples;
    private String most;
    private int mostCount;

    /** What the thread waits for now; null if it does not. A moment later it may be something else. */
    static String of(Thread thread) {
        Thread.State state = thread.getState();
        if (state == Thread.State.BLOCKED) return state + " on a monitor";
        if (state != Thread.State.WAITING && state != Thread.State.TIMED_WAITING) return null;
        Object blocker = LockSupport.getBlocker(thread);
        return blocker == null ? state.toString() : state + ", parked on " + blocker.getClass().getName();
    }

    /** One more sample: what `of` said, with the stack that was taken beside it. */
    void add(String wait, StackTraceElement[] stack) {
        ++samples;
        if (wait == null) return;
        String what = wait.indexOf(' ') < 0 && stack.length > 0 ? wait + " in " + nameOf(stack[0]) : wait;
        int[] count = counts.get(what);
        if (count == null) counts.put(what, count = new int[1]);
        if (++count[0] <= mostCount) return;
        mostCount = count[0];
        most = what;
    }

    /** "WAITING in java.lang.Object.wait, in 20 of 22 samples"; null if most samples did not wait for one thing. */
    String told() {
        return 2 * mostCount > samples ? most + ", in " + mostCount + " of " + samples + " samples" : null;
    }

    private static String nameOf(StackTraceElement call) {
        return call.getClassName() + "." + call.getMethodName();
    }
}

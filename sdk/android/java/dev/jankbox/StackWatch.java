package dev.jankbox;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes Java stacks of the watched Looper's thread while a message of it is overdue, which native unwinding does not
 * see, and what it waits for. They become slices of this thread in the trace, and the calls that most of them share go
 * into the report. A thread of its own: it looks four times or more in the time that is too slow, and costs the
 * watched thread nothing until a message is overdue.
 */
final class StackWatch extends Thread {
    private static final int MAX_FRAMES = 14; // IncidentFacts::kMaxFrames
    private static final long MIN_LOOK_MS = 5;
    private static final long MAX_LOOK_MS = 175; // a change is heard of within that; a quarter of 700 ms
    private static final long SAMPLE_MS = 20;
    private static final long LONG_SAMPLE_MS = 200; // as the native side: ten times less often …
    private static final long LONG_BLOCK_MS = 10_000; // … from here on

    private final Thread watched;
    private final Map<String, Integer> ids = new HashMap<String, Integer>();
    private final List<Integer> open = new ArrayList<Integer>(); // slices, outermost first
    private volatile boolean stopped;

    StackWatch(Thread watched) {
        super("jankbox-java");
        this.watched = watched;
        setDaemon(true);
    }

    void end() {
        stopped = true;
        interrupt();
    }

    @Override
    public void run() {
        int last = 0;
        while (!stopped) {
            int sequence = Native.dispatchSequence();
            if ((sequence & 1) != 0 && sequence == last) sample(sequence);
            last = sequence;
            BinderNames.learn();
            pause(lookMs());
        }
    }

    /** The threshold may change while Jankbox records: asked at each poll. */
    private static long lookMs() {
        int slowMs = Native.slowMessageMs();
        return slowMs == 0 ? MAX_LOOK_MS : Math.min(Math.max(slowMs / 4, MIN_LOOK_MS), MAX_LOOK_MS);
    }

    /** Until message `sequence` is over. */
    private void sample(int sequence) {
        SampledStacks stacks = new SampledStacks();
        SampledWaits waits = new SampledWaits();
        long beganNs = System.nanoTime();
        while (!stopped) {
            String wait = SampledWaits.of(watched);
            StackTraceElement[] stack = watched.getStackTrace();
            if (Native.dispatchSequence() != sequence) break; // it may be of the next message
            stacks.add(stack);
            waits.add(wait, stack);
            showSlices(stack);
            SampledStacks.Path blamed = stacks.blamed();
            Native.overdueStack(sequence, blamed.lines(MAX_FRAMES), blamed.seen, stacks.count(), waits.told());
            boolean longBlock = System.nanoTime() - beganNs > LONG_BLOCK_MS * 1_000_000;
            pause(longBlock ? LONG_SAMPLE_MS : SAMPLE_MS);
        }
        endSlices(0);
    }

    /** Ends and begins slices so that those open are the calls of `stack`. */
    private void showSlices(StackTraceElement[] stack) {
        int depth = 0;
        int[] wanted = new int[stack.length];
        for (int i = 0; i < stack.length; ++i) wanted[i] = idOf(stack[stack.length - 1 - i]);
        while (depth < open.size() && depth < wanted.length && open.get(depth) == wanted[depth]) ++depth;
        endSlices(depth);
        for (; depth < wanted.length; ++depth) {
            Native.begin(wanted[depth]);
            open.add(wanted[depth]);
        }
    }

    private void endSlices(int left) {
        while (open.size() > left) Native.end(open.remove(open.size() - 1));
    }

    private int idOf(StackTraceElement call) {
        String name = call.getClassName() + "." + call.getMethodName();
        Integer id = ids.get(name);
        if (id == null) {
            id = Native.methodId(name);
            ids.put(name, id);
        }
        return id;
    }

    private void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopping) {
            // run() checks `stopped`
        }
    }
}

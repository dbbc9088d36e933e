package dev.jankbox;

import java.util.ArrayList;
import java.util.List;

/** Stacks of one thread during one message, and the path that most of them share. Not thread-safe. */
final class SampledStacks {
    private static final int MAX_KEPT = 128;

    private final List<StackTraceElement[]> kept = new ArrayList<StackTraceElement[]>();
    private int stride = 1; // every stride-th sample is kept
    private int taken;

    void add(StackTraceElement[] stack) {
        if (taken++ % stride != 0) return;
        kept.add(stack);
        if (kept.size() < MAX_KEPT) return;
        for (int i = kept.size() - 1; i >= 0; --i) {
            if (i % 2 != 0) kept.remove(i);
        }
        stride *= 2;
    }

    int count() {
        return kept.size();
    }

    /** The calls, outermost first, of which each is in at least half of the samples under the one before. */
    Path blamed() {
        List<StackTraceElement[]> under = kept;
        List<StackTraceElement> calls = new ArrayList<StackTraceElement>();
        while (true) {
            List<StackTraceElement[]> most = mostAt(under, calls.size());
            if (most.isEmpty() || 2 * most.size() < kept.size()) return new Path(calls, under.size());
            under = most;
            calls.add(at(under.get(under.size() - 1), calls.size())); // the latest line number
        }
    }

    /** The largest group of `stacks` that call the same method at that depth; empty if none goes so deep. */
    private static List<StackTraceElement[]> mostAt(List<StackTraceElement[]> stacks, int depth) {
        List<StackTraceElement[]> most = new ArrayList<StackTraceElement[]>();
        List<StackTraceElement[]> rest = stacks;
        while (rest.size() > most.size()) {
            List<StackTraceElement[]> same = new ArrayList<StackTraceElement[]>();
            List<StackTraceElement[]> others = new ArrayList<StackTraceElement[]>();
            StackTraceElement call = null;
            for (StackTraceElement[] stack : rest) {
                StackTraceElement here = at(stack, depth);
                if (here == null) continue;
                if (call == null) call = here;
                (isSameMethod(call, here) ? same : others).add(stack);
            }
            if (same.size() > most.size()) most = same;
            rest = others;
        }
        return most;
    }

    static boolean isSameMethod(StackTraceElement one, StackTraceElement other) {
        return one.getMethodName().equals(other.getMethodName()) && one.getClassName().equals(other.getClassName());
    }

    /** The call at `depth` from the outermost one; null if the stack is not so deep. */
    private static StackTraceElement at(StackTraceElement[] stack, int depth) {
        return depth < stack.length ? stack[stack.length - 1 - depth] : null;
    }

    /** Calls, outermost first, and how many samples have all of them. */
    static final class Path {
        final List<StackTraceElement> calls;
        final int seen;

        Path(List<StackTraceElement> calls, int seen) {
            this.calls = calls;
            this.seen = seen;
        }

        /** As in a stack trace: innermost first, at most `max`. */
        String[] lines(int max) {
            String[] lines = new String[Math.min(max, calls.size())];
            for (int i = 0; i < lines.length; ++i) lines[i] = calls.get(calls.size() - 1 - i).toString();
            return lines;
        }
    }
}

package android.os;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

public final class ProfilingManager {
    // What was asked for, for the tests to look at.
    public final List<ProfilingTrigger> triggers = new ArrayList<ProfilingTrigger>();
    public Executor executor;
    public Consumer<ProfilingResult> listener;

    public void registerForAllProfilingResults(Executor executor, Consumer<ProfilingResult> listener) {
        this.executor = executor;
        this.listener = listener;
    }

    public void unregisterForAllProfilingResults(Consumer<ProfilingResult> listener) {
        if (this.listener == listener) this.listener = null;
    }

    public void addProfilingTriggers(List<ProfilingTrigger> added) {
        triggers.addAll(added);
    }

    public void removeProfilingTriggersByType(int[] types) {
        triggers.clear();
    }
}

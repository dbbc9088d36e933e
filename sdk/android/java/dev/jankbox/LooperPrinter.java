package dev.jankbox;

import android.util.Printer;

/**
 * The printer in a Looper's mLogging. Passes each line to the previous printer, then to the native side, which has
 * the rules (monitors/looper/printer_dispatches.h). consumer-rules.pro keeps its name: copies of this library in
 * other class loaders recognize each other by it.
 */
final class LooperPrinter implements Printer {
    private static final String BEGIN = ">>>>> Dispatching to ";

    /** The previous printer; null: none, or it could not be read. */
    final Printer previous;

    LooperPrinter(Printer previous) {
        this.previous = previous;
    }

    @Override
    public void println(String line) {
        if (previous != null) previous.println(line);
        // A printer that was replaced, and that still gets lines through the new one, is silent.
        if (LooperMonitor.ours != this || line == null) return;
        if (line.startsWith("<")) {
            Native.dispatchEnd();
        } else {
            // The part that is the same in every line is not copied.
            Native.dispatchLine(line, line.startsWith(BEGIN) ? BEGIN.length() : 0, line.length());
        }
    }
}

package dev.jankbox;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.util.Printer;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * What our native calls cost from Java, as JSON: CallCost POLL_LAYER REPORT_FOLDER ROUNDS. Begin and end in a tight loop against
 * an empty native call and two reads of the clock; 300,000 messages of the real Looper without a printer, with an empty
 * one, and with ours.
 */
public final class CallCost {
    private static final int CALLS = 20_000; // a round
    private static final int MESSAGES = 10_000;
    private static final int MESSAGE_ROUNDS = 30;
    private static final String LINE = ">>>>> Dispatching to Handler (android.app.ActivityThread$H) {1c5a1e8} null: 159";
    private static final String END = "<<<<< Finished to Handler (android.app.ActivityThread$H) {1c5a1e8} null";

    private static long clock; // what the loops cannot leave out

    private interface Kernel {
        void run(int passes);
    }

    /** Sends itself the next message. */
    private static final class Runner extends Handler {
        private int left;
        private CountDownLatch done;
        private long beganNs;
        private long tookNs;

        Runner() {
            super(Looper.getMainLooper());
        }

        long nsPerMessage(final Printer printer) throws InterruptedException {
            done = new CountDownLatch(1);
            left = MESSAGES;
            post(new Runnable() {
                @Override
                public void run() {
                    Looper.getMainLooper().setMessageLogging(printer);
                    beganNs = System.nanoTime();
                    sendEmptyMessage(0);
                }
            });
            done.await();
            return tookNs / MESSAGES;
        }

        @Override
        public void handleMessage(Message message) {
            if (--left > 0) {
                sendEmptyMessage(0);
                return;
            }
            tookNs = System.nanoTime() - beganNs;
            done.countDown();
        }
    }

    public static void main(final String[] arguments) {
        System.load(arguments[0]);
        Looper.prepareMainLooper();
        Options options = new Options().dir(arguments[1]).javaStacks(false).set("ftrace", 1).set("record", 1)
                .set("flags", "no_loop_hooks"); // Android's own are never hooked
        if (Jankbox.start(options) != Jankbox.OK) {
            System.err.println(Jankbox.lastError());
            System.exit(1);
        }
        new Thread("driver") {
            @Override
            public void run() {
                try {
                    measure(Integer.parseInt(arguments[2]));
                } catch (InterruptedException interrupted) {
                    System.exit(1);
                }
                Jankbox.stop();
                System.exit(0);
            }
        }.start();
        Looper.loop();
    }

    private static void measure(int rounds) throws InterruptedException {
        final LooperPrinter[] ours = new LooperPrinter[1];
        String[] names = {"2_clock_reads", "2_empty_natives", "begin_end", "printer_lines"};
        Kernel[] kernels = {
            new Kernel() {
                @Override
                public void run(int passes) {
                    for (int i = 0; i < passes; ++i) clock += System.nanoTime() - System.nanoTime();
                }
            },
            new Kernel() {
                @Override
                public void run(int passes) {
                    for (int i = 0; i < passes; ++i) {
                        TestNatives.nothing(i);
                        TestNatives.nothing(i);
                    }
                }
            },
            new Kernel() {
                private final int id = Jankbox.methodId("CallCost.pass");

                @Override
                public void run(int passes) {
                    for (int i = 0; i < passes; ++i) {
                        Jankbox.begin(id);
                        Jankbox.end(id);
                    }
                }
            },
            new Kernel() {
                @Override
                public void run(int passes) {
                    for (int i = 0; i < passes; ++i) {
                        ours[0].println(LINE);
                        ours[0].println(END);
                    }
                }
            },
        };
        Runner runner = new Runner();
        runner.nsPerMessage(LooperMonitor.ours); // it is installed by now
        ours[0] = LooperMonitor.ours;
        double[][] ns = new double[kernels.length][rounds];
        for (int round = -5; round < rounds; ++round) { // the first ones let the VM compile
            for (int kernel = 0; kernel < kernels.length; ++kernel) {
                double took = onLooper(runner, kernels[kernel]);
                if (round >= 0) ns[kernel][round] = took;
            }
        }
        StringBuilder json = new StringBuilder("{\"ns\":{");
        for (int kernel = 0; kernel < kernels.length; ++kernel) {
            json.append(kernel == 0 ? "" : ",").append(row(names[kernel], ns[kernel]));
        }
        measureMessages(runner, ours[0], json);
        System.out.println(json.append("}}"));
    }

    private static void measureMessages(Runner runner, Printer ours, StringBuilder json) throws InterruptedException {
        Printer empty = new Printer() {
            @Override
            public void println(String line) {}
        };
        Printer[] printers = {null, empty, ours};
        String[] names = {"message", "message_empty_printer", "message_our_printer"};
        double[][] ns = new double[printers.length][MESSAGE_ROUNDS];
        for (int round = -2; round < MESSAGE_ROUNDS; ++round) {
            for (int i = 0; i < printers.length; ++i) {
                double took = runner.nsPerMessage(printers[i]);
                if (round >= 0) ns[i][round] = took;
            }
        }
        double[] oursNs = new double[MESSAGE_ROUNDS]; // of rounds that follow each other
        for (int round = 0; round < MESSAGE_ROUNDS; ++round) oursNs[round] = ns[2][round] - ns[1][round];
        for (int i = 0; i < printers.length; ++i) json.append(",").append(row(names[i], ns[i]));
        json.append(",").append(row("our_part_of_a_message", oursNs));
    }

    /** Nanoseconds a pass, on the Looper's thread: that is where lines are printed. */
    private static double onLooper(Runner runner, final Kernel kernel) throws InterruptedException {
        final CountDownLatch done = new CountDownLatch(1);
        final long[] took = new long[1];
        runner.post(new Runnable() {
            @Override
            public void run() {
                long began = System.nanoTime();
                kernel.run(CALLS);
                took[0] = System.nanoTime() - began;
                done.countDown();
            }
        });
        done.await();
        return (double) took[0] / CALLS;
    }

    private static String row(String name, double[] ns) {
        Arrays.sort(ns);
        return "\"" + name + "\":{\"min_ns\":" + ns[0] + ",\"median_ns\":" + ns[ns.length / 2] + "}";
    }
}

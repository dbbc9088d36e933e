package dev.jankbox;

import android.content.Context;
import android.util.AttributeSet;
import android.view.LayoutInflater;
import android.view.View;

/** Views as an activity's inflater asks its factories for them, one of them slow to make. */
final class Inflation {
    private Inflation() {}

    /** An app's own view. */
    public static final class Chart extends View {
        public Chart(Context context, AttributeSet attrs) {
            super(context, attrs);
            Scenario.sleep(600); // a busy machine's delays are taken off it
        }
    }

    /** What is named so in Android 7 and later: com.android.internal.policy.PhoneLayoutInflater. */
    private static final class PhoneLayoutInflater extends LayoutInflater {
        PhoneLayoutInflater(Context context) {
            super(context);
        }

        private PhoneLayoutInflater(LayoutInflater original, Context context) {
            super(original, context);
        }

        @Override
        public LayoutInflater cloneInContext(Context context) {
            return new PhoneLayoutInflater(this, context);
        }
    }

    /** As AppCompat's: makes some, leaves the others. */
    private static final class Widgets implements LayoutInflater.Factory2 {
        @Override
        public View onCreateView(String name, Context context, AttributeSet attrs) {
            return onCreateView(null, name, context, attrs);
        }

        @Override
        public View onCreateView(View parent, String name, Context context, AttributeSet attrs) {
            return name.equals("Button") ? new View(context, attrs) : null;
        }
    }

    static void run(Scenario scenario) throws InterruptedException {
        final GalleryApp app = new GalleryApp("/nowhere");
        scenario.onLooper(new Runnable() {
            @Override
            public void run() {
                LayoutInflater plain = new PhoneLayoutInflater(app);
                LayoutInflater compat = new PhoneLayoutInflater(app);
                compat.setFactory2(new Widgets());
                System.out.println("traced " + Jankbox.traceInflation(plain) + " " + Jankbox.traceInflation(compat)
                        + " " + Jankbox.traceInflation(compat));
                System.out.println("made " + make(plain, "View") + " " + make(compat, Chart.class.getName()) + " "
                        + make(compat, "Button") + " " + make(compat, "fragment"));
            }
        });
    }

    private static String make(LayoutInflater inflater, String name) {
        View view = inflater.getFactory2().onCreateView(null, name, inflater.getContext(), null);
        return view == null ? "nothing" : view.getClass().getSimpleName();
    }
}

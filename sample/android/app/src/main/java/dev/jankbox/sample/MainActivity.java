package dev.jankbox.sample;

import android.app.Activity;
import android.os.Bundle;
import android.view.View;
import android.widget.Button;
import android.widget.LinearLayout;

import dev.jankbox.Jankbox;

/** Three buttons, each of which blocks the main thread in its own way. */
public final class MainActivity extends Activity {
    private static final int DECODE = Jankbox.methodId("MainActivity.decode");

    static {
        System.loadLibrary("sample");
    }

    private static native void decodeNatively(int ms);

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        LinearLayout list = new LinearLayout(this);
        list.setOrientation(LinearLayout.VERTICAL);
        list.addView(button("Slow in Java (500 ms)", new Runnable() {
            @Override
            public void run() {
                decode(500);
            }
        }));
        list.addView(button("Slow in C++ (500 ms)", new Runnable() {
            @Override
            public void run() {
                decodeNatively(500);
            }
        }));
        list.addView(button("Not responding (8 s)", new Runnable() {
            @Override
            public void run() {
                decode(8000);
            }
        }));
        setContentView(list);
        Jankbox.fullyDrawn();
    }

    private Button button(String text, final Runnable action) {
        Button button = new Button(this);
        button.setText(text);
        button.setOnClickListener(new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                action.run();
            }
        });
        return button;
    }

    private static void decode(int ms) {
        Jankbox.begin(DECODE);
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ignored) {
            Thread.currentThread().interrupt();
        } finally {
            Jankbox.end(DECODE);
        }
    }
}

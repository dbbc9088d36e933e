package android.view;

import android.content.Context;
import android.util.AttributeSet;

public class View {
    public View(Context context, AttributeSet attrs) {}
}

package android.view;

import android.content.Context;
import android.util.AttributeSet;

/** What is documented of the creation of one view; reading layouts is not here. */
public abstract class LayoutInflater {
    public interface Factory {
        View onCreateView(String name, Context context, AttributeSet attrs);
    }

    public interface Factory2 extends Factory {
        View onCreateView(View parent, String name, Context context, AttributeSet attrs);
    }

    private final Context mContext;
    private Factory mFactory;
    private Factory2 mFactory2;
    private boolean mFactorySet;

    protected LayoutInflater(Context context) {
        mContext = context;
    }

    protected LayoutInflater(LayoutInflater original, Context newContext) {
        mContext = newContext;
        mFactory = original.mFactory;
        mFactory2 = original.mFactory2;
    }

    public abstract LayoutInflater cloneInContext(Context newContext);

    public Context getContext() {
        return mContext;
    }

    public final Factory getFactory() {
        return mFactory;
    }

    public final Factory2 getFactory2() {
        return mFactory2;
    }

    public void setFactory2(Factory2 factory) {
        if (mFactorySet) throw new IllegalStateException("A factory has already been set on this LayoutInflater");
        mFactorySet = true;
        mFactory = mFactory2 = factory;
    }

    public final View createView(String name, String prefix, AttributeSet attrs) throws ClassNotFoundException {
        return createView(mContext, name, prefix, attrs);
    }

    public final View createView(Context viewContext, String name, String prefix, AttributeSet attrs)
            throws ClassNotFoundException {
        Class<?> view = Class.forName(prefix == null ? name : prefix + name, false, mContext.getClassLoader());
        try {
            return (View) view.getConstructor(Context.class, AttributeSet.class).newInstance(viewContext, attrs);
        } catch (ReflectiveOperationException failure) {
            throw new InflateException("Error inflating class " + name, failure);
        }
    }
}

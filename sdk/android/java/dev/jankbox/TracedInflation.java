package dev.jankbox;

import android.annotation.TargetApi;
import android.content.Context;
import android.os.Build;
import android.util.AttributeSet;
import android.view.LayoutInflater;
import android.view.View;

import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Views that a LayoutInflater makes, as render work: "inflate: android.widget.TextView". Hands each tag to the factory
 * that was there; if that makes nothing, the view is made here as the inflater itself would. Any thread, as the
 * inflater.
 */
final class TracedInflation implements LayoutInflater.Factory2 {
    // As PhoneLayoutInflater, which every activity has, tries them; the last one is LayoutInflater's own.
    private static final String[] PREFIXES = {"android.widget.", "android.webkit.", "android.app.", "android.view."};
    private static final String PHONE_INFLATER = "PhoneLayoutInflater";

    private final LayoutInflater inflater;
    private final LayoutInflater.Factory next; // null: none
    private final Thread thread = Thread.currentThread();
    private final boolean isPhones;
    private final ConcurrentMap<String, Tag> tags = new ConcurrentHashMap<String, Tag>();

    /** What an element of a layout represents. */
    private static final class Tag {
        final int id;
        final String prefix; // of its class; null: the name has one
        final boolean isClass;

        Tag(String name, String prefix, boolean isClass) {
            id = Native.renderId("inflate", prefix == null ? name : prefix + name);
            this.prefix = prefix;
            this.isClass = isClass;
        }
    }

    private TracedInflation(LayoutInflater inflater) {
        this.inflater = inflater;
        LayoutInflater.Factory2 next2 = inflater.getFactory2();
        next = next2 != null ? next2 : inflater.getFactory();
        isPhones = inflater.getClass().getSimpleName().equals(PHONE_INFLATER);
    }

    /** False if the inflater has a factory already that may not be wrapped. */
    static boolean install(LayoutInflater inflater) {
        if (inflater.getFactory2() instanceof TracedInflation) return true;
        TracedInflation traced = new TracedInflation(inflater);
        try {
            if (traced.next == null) {
                inflater.setFactory2(traced);
            } else {
                set(inflater, "mFactory2", traced); // a factory can be set once only
                set(inflater, "mFactory", traced);
            }
            return true;
        } catch (ReflectiveOperationException | RuntimeException notPermitted) {
            return false;
        }
    }

    @Override
    public View onCreateView(String name, Context context, AttributeSet attrs) {
        return onCreateView(null, name, context, attrs);
    }

    @Override
    public View onCreateView(View parent, String name, Context context, AttributeSet attrs) {
        Tag tag = tagOf(name);
        Native.begin(tag.id);
        try {
            View view = byFactory(next, parent, name, context, attrs);
            if (view != null || !isPhones || !tag.isClass || Thread.currentThread() != thread) return view;
            // An activity is asked before the inflater makes anything itself.
            Context base = inflater.getContext();
            if (base instanceof LayoutInflater.Factory) {
                view = byFactory((LayoutInflater.Factory) base, parent, name, context, attrs);
            }
            return view != null ? view : create(name, tag.prefix, context, attrs);
        } catch (ClassNotFoundException notHere) {
            return null; // the inflater says so in its own way
        } finally {
            Native.end(tag.id);
        }
    }

    private static View byFactory(
            LayoutInflater.Factory factory, View parent, String name, Context context, AttributeSet attrs) {
        if (factory instanceof LayoutInflater.Factory2) {
            return ((LayoutInflater.Factory2) factory).onCreateView(parent, name, context, attrs);
        }
        return factory == null ? null : factory.onCreateView(name, context, attrs);
    }

    @TargetApi(29)
    private View create(String name, String prefix, Context context, AttributeSet attrs)
            throws ClassNotFoundException {
        if (Build.VERSION.SDK_INT >= 29) return inflater.createView(context, name, prefix, attrs);
        LayoutInflater ofContext = context == inflater.getContext() ? inflater : inflater.cloneInContext(context);
        return ofContext.createView(name, prefix, attrs);
    }

    private Tag tagOf(String name) {
        Tag tag = tags.get(name);
        if (tag == null) {
            tag = newTag(name);
            tags.put(name, tag);
        }
        return tag;
    }

    private Tag newTag(String name) {
        if (name.indexOf('.') >= 0) return new Tag(name, null, true);
        for (String prefix : PREFIXES) {
            try {
                Class.forName(prefix + name, false, inflater.getContext().getClassLoader());
                return new Tag(name, prefix, true);
            } catch (ClassNotFoundException | LinkageError elsewhere) {
                // the next one may have it
            }
        }
        return new Tag(name, null, false); // "fragment", or a name that a factory knows
    }

    private static void set(LayoutInflater inflater, String name, Object value) throws ReflectiveOperationException {
        Field field = LayoutInflater.class.getDeclaredField(name);
        field.setAccessible(true);
        field.set(inflater, value);
    }
}

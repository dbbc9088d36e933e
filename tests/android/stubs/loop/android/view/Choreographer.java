package android.view;

public final class Choreographer {
    public static Choreographer getInstance() {
        return null;
    }
}

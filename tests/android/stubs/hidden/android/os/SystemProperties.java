package android.os;

/** Every property has its default, but for the vsync of a display that is not there. */
public class SystemProperties {
    public static boolean getBoolean(String name, boolean otherwise) {
        return !name.equals("debug.choreographer.vsync") && otherwise;
    }

    public static int getInt(String name, int otherwise) {
        return otherwise;
    }

    public static void addChangeCallback(Runnable callback) {}
}

package android.os;

public class Handler {
    public Handler(Looper looper) {}

    public final boolean postAtFrontOfQueue(Runnable action) {
        return false;
    }
}

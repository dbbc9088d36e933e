package android.os;

public final class MessageQueue {
    public interface IdleHandler {
        boolean queueIdle();
    }

    public void addIdleHandler(IdleHandler handler) {}

    public void removeIdleHandler(IdleHandler handler) {}
}

package android.os;

public final class MessageQueueProto {
    public static final long MESSAGES = 1;
    public static final long IS_POLLING_LOCKED = 2;
    public static final long IS_QUITTING = 3;
}

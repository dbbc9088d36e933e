package android.os;

public final class LooperProto {
    public static final long THREAD_NAME = 1;
    public static final long THREAD_ID = 2;
    public static final long QUEUE = 3;
}

package android.os;

public final class MessageProto {
    public static final long WHEN = 1;
    public static final long CALLBACK = 2;
    public static final long WHAT = 3;
    public static final long ARG1 = 4;
    public static final long ARG2 = 5;
    public static final long OBJ = 6;
    public static final long TARGET = 7;
    public static final long BARRIER = 8;
}

package android.util.proto;

public final class ProtoOutputStream {
    public long start(long field) {
        return 0;
    }

    public void end(long token) {}

    public void write(long field, long value) {}

    public void write(long field, boolean value) {}

    public void write(long field, String value) {}
}

package android.os;

/** Nothing is sent to another process here. */
public final class Parcel {
    private static UnsupportedOperationException refuse() {
        return new UnsupportedOperationException("no binder");
    }

    public void writeInt(int value) {
        throw refuse();
    }

    public void writeLong(long value) {
        throw refuse();
    }

    public void writeBundle(Bundle value) {
        throw refuse();
    }

    public void writeParcelable(Parcelable value, int flags) {
        throw refuse();
    }

    public int readInt() {
        throw refuse();
    }

    public long readLong() {
        throw refuse();
    }

    public Bundle readBundle() {
        throw refuse();
    }

    public <T extends Parcelable> T readParcelable(ClassLoader loader) {
        throw refuse();
    }
}

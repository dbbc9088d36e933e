package dev.jankbox;

/** Native calls of the tests' own: tests/android/native/poll_layer.cc. */
final class TestNatives {
    private TestNatives() {}

    static native void nothing(int id);

    /** Calls JNI as nobody should. */
    static native void mistake();
}

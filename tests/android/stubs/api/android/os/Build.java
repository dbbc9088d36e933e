package android.os;

public class Build {
    public static class VERSION {
        /** That of the sources which the tests run. */
        public static final int SDK_INT = Integer.getInteger("stub.sdk_int", 29);
    }

    public static class VERSION_CODES {
        public static final int LOLLIPOP = 21;
        public static final int O = 26;
        public static final int P = 28;
    }
}

package android.view;

public final class DisplayInfo {
    public static final class Mode {
        public float getRefreshRate() {
            return 60;
        }
    }

    public Mode getMode() {
        return new Mode();
    }
}

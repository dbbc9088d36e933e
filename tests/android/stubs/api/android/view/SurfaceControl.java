package android.view;

import java.util.List;

public final class SurfaceControl {
    public static class JankData {
        public static final int JANK_NONE = 0;
        public static final int JANK_COMPOSER = 1;
        public static final int JANK_APPLICATION = 2;
        public static final int JANK_OTHER = 4;

        private final long vsyncId;
        private final int jankType;
        private final long scheduledNs;
        private final long actualNs;

        /** Hidden in Android. */
        public JankData(long vsyncId, int jankType, long intervalNs, long scheduledNs, long actualNs) {
            this.vsyncId = vsyncId;
            this.jankType = jankType;
            this.scheduledNs = scheduledNs;
            this.actualNs = actualNs;
        }

        public long getVsyncId() {
            return vsyncId;
        }

        public int getJankType() {
            return jankType;
        }

        public long getScheduledAppFrameTimeNanos() {
            return scheduledNs;
        }

        public long getActualAppFrameTimeNanos() {
            return actualNs;
        }
    }

    public interface OnJankDataListener {
        void onJankDataAvailable(List<JankData> jankData);
    }

    public static class OnJankDataListenerRegistration {
        public void flush() {}

        public void removeAfter(long afterVsync) {}
    }
}

package android.os;

public final class ProfilingTrigger {
    public static final int TRIGGER_TYPE_NONE = 0;
    public static final int TRIGGER_TYPE_APP_FULLY_DRAWN = 1;
    public static final int TRIGGER_TYPE_ANR = 2;

    private final int type;

    private ProfilingTrigger(int type) {
        this.type = type;
    }

    public int getTriggerType() {
        return type;
    }

    public static final class Builder {
        private final int type;

        public Builder(int triggerType) {
            type = triggerType;
        }

        public Builder setRateLimitingPeriodHours(int hours) {
            return this;
        }

        public ProfilingTrigger build() {
            return new ProfilingTrigger(type);
        }
    }
}

package android.os;

public final class ProfilingResult {
    public static final int ERROR_NONE = 0;
    public static final int ERROR_UNKNOWN = 8;

    private final int errorCode;
    private final int triggerType;
    private final String path;

    /** Made by the system in Android. */
    public ProfilingResult(int errorCode, int triggerType, String path) {
        this.errorCode = errorCode;
        this.triggerType = triggerType;
        this.path = path;
    }

    public int getErrorCode() {
        return errorCode;
    }

    public int getTriggerType() {
        return triggerType;
    }

    public String getResultFilePath() {
        return path;
    }
}

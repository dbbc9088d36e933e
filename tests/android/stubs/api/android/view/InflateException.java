package android.view;

public class InflateException extends RuntimeException {
    public InflateException(String message, Throwable cause) {
        super(message, cause);
    }
}

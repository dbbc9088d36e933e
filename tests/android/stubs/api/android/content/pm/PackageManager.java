package android.content.pm;

public abstract class PackageManager {
    public static final int GET_META_DATA = 0x80;

    public static class NameNotFoundException extends Exception {}

    public abstract ApplicationInfo getApplicationInfo(String name, int flags) throws NameNotFoundException;

    public abstract PackageInfo getPackageInfo(String name, int flags) throws NameNotFoundException;
}

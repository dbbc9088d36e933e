package android.content;

import android.content.pm.PackageManager;
import java.io.File;

public abstract class Context {
    public static final String ACTIVITY_SERVICE = "activity";
    public static final String BATTERY_SERVICE = "batterymanager";
    public static final String CONNECTIVITY_SERVICE = "connectivity";
    public static final String POWER_SERVICE = "power";

    public Context getApplicationContext() {
        return this;
    }

    public ClassLoader getClassLoader() {
        return Context.class.getClassLoader();
    }

    public File getNoBackupFilesDir() {
        return null;
    }

    public PackageManager getPackageManager() {
        return null;
    }

    public String getPackageName() {
        return null;
    }

    public Object getSystemService(String name) {
        return null;
    }

    public final <T> T getSystemService(Class<T> serviceClass) {
        return serviceClass.cast(getSystemService(serviceClass.getSimpleName()));
    }
}

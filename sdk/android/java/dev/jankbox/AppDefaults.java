package dev.jankbox;

import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Bundle;

import java.io.File;

/** Options that the app's manifest gives (meta-data "dev.jankbox.NAME"), and those that follow from the app itself. */
final class AppDefaults {
    private static final String PREFIX = "dev.jankbox.";

    private AppDefaults() {}

    static void add(Context context, Options options) {
        String name = context.getPackageName();
        try {
            PackageManager packages = context.getPackageManager();
            addMetaData(packages.getApplicationInfo(name, PackageManager.GET_META_DATA), options);
            PackageInfo self = packages.getPackageInfo(name, 0);
            options.addDefault("app_version", self.versionName);
        } catch (PackageManager.NameNotFoundException | RuntimeException gone) {
            // the package manager may be gone with its process; the other values stay
        }
        options.addDefault("app_name", name);
        options.addDefault("dir", new File(context.getNoBackupFilesDir(), "jankbox").getPath());
    }

    private static void addMetaData(ApplicationInfo app, Options options) {
        Bundle metaData = app.metaData;
        if (metaData == null) return;
        for (String key : metaData.keySet()) {
            if (!key.startsWith(PREFIX)) continue;
            Object value = metaData.get(key);
            options.addDefault(key.substring(PREFIX.length()), value == null ? null : value.toString());
        }
    }
}

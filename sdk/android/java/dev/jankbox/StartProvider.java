package dev.jankbox;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.database.Cursor;
import android.net.Uri;

/**
 * Starts Jankbox before the app's own code runs, if the app's manifest has the meta-data "dev.jankbox.auto_start" with
 * the value "true". Provides no content.
 */
public final class StartProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        Options options = new Options();
        AppDefaults.add(getContext(), options);
        if (options.isOn(Options.AUTO_START, false)) Jankbox.start(getContext(), options);
        return true;
    }

    @Override
    public Cursor query(Uri uri, String[] projection, String selection, String[] arguments, String order) {
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return null;
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        return null;
    }

    @Override
    public int delete(Uri uri, String selection, String[] arguments) {
        return 0;
    }

    @Override
    public int update(Uri uri, ContentValues values, String selection, String[] arguments) {
        return 0;
    }
}

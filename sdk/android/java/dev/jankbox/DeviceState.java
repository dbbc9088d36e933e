package dev.jankbox;

import android.annotation.TargetApi;
import android.content.Context;
import android.net.ConnectivityManager;
import android.os.BatteryManager;
import android.os.Build;
import android.os.PowerManager;

/** What the device allows now, as states of the reports: "power" and "network". Asked when the app comes and goes. */
final class DeviceState {
    private DeviceState() {}

    static void tell(Context context) {
        try {
            Native.setState("power", power(context));
            Native.setState("network", network(context));
        } catch (RuntimeException notPermitted) {
            // a state that is not known is not told
        }
    }

    @TargetApi(23)
    private static String power(Context context) {
        PowerManager power = (PowerManager) context.getSystemService(Context.POWER_SERVICE);
        if (power == null) return null;
        if (Build.VERSION.SDK_INT >= 23 && power.isDeviceIdleMode()) return "doze";
        if (power.isPowerSaveMode()) return "power save";
        BatteryManager battery = (BatteryManager) context.getSystemService(Context.BATTERY_SERVICE);
        if (battery == null) return null;
        int percent = battery.getIntProperty(BatteryManager.BATTERY_PROPERTY_CAPACITY);
        if (percent < 0 || percent > 100) return null;
        return percent < 15 ? "battery low" : "battery";
    }

    /** Null without the permission ACCESS_NETWORK_STATE, which this library does not ask for. */
    private static String network(Context context) {
        ConnectivityManager network = (ConnectivityManager) context.getSystemService(Context.CONNECTIVITY_SERVICE);
        if (network == null) return null;
        return network.isActiveNetworkMetered() ? "metered" : "not metered";
    }
}

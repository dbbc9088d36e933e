package dev.jankbox;

import android.annotation.TargetApi;
import android.content.Context;
import android.net.ConnectivityManager;
import android.os.BatteryManager;
import android.os.Build;
import android.os.PowerManager;

/**
 * What the device allows now, as states of the reports, "power" and "network", and what uploads make of it. Asked
 * when the app comes and goes.
 */
final class DeviceState {
    // jankbox/upload.h
    private static final int NETWORK_FREE = 0;
    private static final int NETWORK_METERED = 1;
    private static final int NETWORK_OFF = 2;

    private DeviceState() {}

    static void tell(Context context) {
        String power = null;
        String network = null;
        try {
            power = power(context);
            network = network(context);
        } catch (RuntimeException notPermitted) {
            // a state that is not known is not reported
        }
        Native.setState("power", power);
        Native.setState("network", network);
        Native.setNetwork(uploads(power, network));
    }

    /** If power is low, reports wait; an unknown network may cost money. */
    private static int uploads(String power, String network) {
        if (power != null && !power.equals("battery")) return NETWORK_OFF;
        return "not metered".equals(network) ? NETWORK_FREE : NETWORK_METERED;
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

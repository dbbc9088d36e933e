package android.os;

public final class Messenger {
    public static void writeMessengerOrNullToParcel(Messenger messenger, Parcel out) {}

    public static Messenger readMessengerOrNullFromParcel(Parcel in) {
        return null;
    }
}

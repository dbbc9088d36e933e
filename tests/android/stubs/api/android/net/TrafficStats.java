package android.net;

public class TrafficStats {
    public static void setThreadStatsTag(int tag) {}
}

package android.os;

public final class Trace {}

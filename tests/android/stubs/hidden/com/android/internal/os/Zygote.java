package com.android.internal.os;

public final class Zygote {
    public static final int DEBUG_JAVA_DEBUGGABLE = 1 << 8;
}

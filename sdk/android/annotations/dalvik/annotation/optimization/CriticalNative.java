package dalvik.annotation.optimization;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A static native method of primitive types that is called without JNIEnv and class. ART's own, by name, from API 26 on; older ones and other VMs ignore
 * it. To compile against; no part of the library.
 */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface CriticalNative {}

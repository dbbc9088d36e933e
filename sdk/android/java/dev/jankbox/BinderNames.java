package dev.jankbox;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the codes of binder calls are called: the constants TRANSACTION_… of the stubs that AIDL generates. Asked of
 * only the interfaces that the watched threads call, once each. Android may keep the fields of its own from apps
 * (API 28): then their codes stay numbers. On a Jankbox thread.
 */
final class BinderNames {
    private static final String PREFIX = "TRANSACTION_";

    private BinderNames() {}

    /** Passes the interfaces that were called since to the native side. */
    static void learn() {
        for (String name = Native.newBinderInterface(); name != null; name = Native.newBinderInterface()) {
            String stub = name + "$Stub";
            Map<String, Integer> codes = codesOf(stub);
            int[] numbers = new int[codes.size()];
            int at = 0;
            for (int number : codes.values()) numbers[at++] = number;
            Native.binderCodes(stub, codes.keySet().toArray(new String[0]), numbers);
        }
    }

    /** Constants to codes; empty if there is no such class, or nothing of it may be seen. */
    static Map<String, Integer> codesOf(String stub) {
        Map<String, Integer> codes = new LinkedHashMap<String, Integer>();
        try {
            Class<?> type = Class.forName(stub, false, BinderNames.class.getClassLoader());
            for (Field field : type.getDeclaredFields()) {
                int modifiers = field.getModifiers();
                boolean constant = Modifier.isStatic(modifiers) && Modifier.isFinal(modifiers);
                if (!constant || field.getType() != int.class || !field.getName().startsWith(PREFIX)) continue;
                field.setAccessible(true);
                codes.put(field.getName(), field.getInt(null));
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError notPermitted) {
            // what is known stays
        }
        return codes;
    }
}

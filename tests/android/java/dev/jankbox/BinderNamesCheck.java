package dev.jankbox;

import java.util.LinkedHashMap;
import java.util.Map;

/** What BinderNames finds in a stub as AIDL generates it, in one that throws, and if there is none. Exits with 1 if it is something else. */
public final class BinderNamesCheck {
    interface IFake {
        abstract class Stub {
            static final String DESCRIPTOR = "dev.jankbox.BinderNamesCheck$IFake";
            static final int TRANSACTION_open = 1;
            static final int TRANSACTION_close = 2;
            private static final int TRANSACTION_hidden = 0x00fffffe;
            static final long TRANSACTION_wide = 3;
            static int TRANSACTION_variable = 4;
            final int TRANSACTION_ofAnObject = 5;
            static final int OTHER = 6;
        }
    }

    interface IBroken {
        class Stub {
            static final int TRANSACTION_never = Integer.parseInt("no number");
        }
    }

    private BinderNamesCheck() {}

    private static void expect(Object found, Object wanted) {
        if (found.equals(wanted)) return;
        System.err.println("found " + found + ", not " + wanted);
        System.exit(1);
    }

    public static void main(String[] arguments) {
        Map<String, Integer> wanted = new LinkedHashMap<String, Integer>();
        wanted.put("TRANSACTION_open", 1);
        wanted.put("TRANSACTION_close", 2);
        wanted.put("TRANSACTION_hidden", 0x00fffffe);
        expect(BinderNames.codesOf(IFake.class.getName() + "$Stub"), wanted);
        wanted.clear();
        expect(BinderNames.codesOf(IBroken.class.getName() + "$Stub"), wanted);
        expect(BinderNames.codesOf("no.such.IInterface$Stub"), wanted);
        expect(BinderNames.codesOf("not a class$Stub"), wanted);
        System.out.println("BinderNames finds what it should");
    }
}

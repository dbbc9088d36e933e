package android.os;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

public final class Bundle implements Cloneable {
    private final Map<String, Object> values = new HashMap<String, Object>();

    public Bundle() {}

    public Bundle(Bundle other) {
        values.putAll(other.values);
    }

    public Set<String> keySet() {
        return values.keySet();
    }

    public Object get(String key) {
        return values.get(key);
    }

    public void putString(String key, String value) {
        values.put(key, value);
    }

    @Override
    public Object clone() {
        return new Bundle(this);
    }
}

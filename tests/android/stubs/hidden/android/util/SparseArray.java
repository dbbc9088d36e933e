package android.util;

import java.util.ArrayList;
import java.util.TreeMap;

public class SparseArray<E> {
    private final TreeMap<Integer, E> values = new TreeMap<Integer, E>();

    public E get(int key) {
        return values.get(key);
    }

    public void put(int key, E value) {
        values.put(key, value);
    }

    public int indexOfKey(int key) {
        return values.containsKey(key) ? values.headMap(key).size() : -1;
    }

    public E valueAt(int index) {
        return new ArrayList<E>(values.values()).get(index);
    }

    public void removeAt(int index) {
        values.remove(new ArrayList<Integer>(values.keySet()).get(index));
    }
}

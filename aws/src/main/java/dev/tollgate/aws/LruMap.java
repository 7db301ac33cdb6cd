package dev.tollgate.aws;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that keeps the most recently used entries. Not thread-safe. */
public final class LruMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  private final int max;

  /** An empty map that keeps at most {@code max} entries. */
  public LruMap(int max) {
    super(16, 0.75f, true);
    this.max = max;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > max;
  }
}

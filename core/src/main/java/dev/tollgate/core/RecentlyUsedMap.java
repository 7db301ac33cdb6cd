package dev.tollgate.core;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that keeps its most recently used keys. Not thread-safe.
 *
 * @param <K> the keys
 * @param <V> the values
 */
public final class RecentlyUsedMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  private final int max;

  /**
   * An empty map.
   *
   * @param max the most keys; 1 or more
   */
  public RecentlyUsedMap(int max) {
    super(16, 0.75f, true);
    this.max = max;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > max;
  }
}

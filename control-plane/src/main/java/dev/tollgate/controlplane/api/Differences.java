package dev.tollgate.controlplane.api;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The differences between two documents, as a document of the same shape. Each value that differs
 * is replaced by {@code {"from":…,"to":…}}; {@code from} is missing for an added value, {@code to}
 * for a removed one.
 */
final class Differences {
  private Differences() {}

  static Map<String, Object> between(Map<?, ?> before, Map<?, ?> after) {
    Set<Object> names = new LinkedHashSet<>(before.keySet());
    names.addAll(after.keySet());
    Map<String, Object> differences = new LinkedHashMap<>();
    for (Object name : names) {
      Object from = before.get(name);
      Object to = after.get(name);
      if (from instanceof Map<?, ?> || to instanceof Map<?, ?>) {
        Map<String, Object> inside = between(fields(from), fields(to));
        if (!inside.isEmpty()) {
          differences.put(name.toString(), inside);
        }
      } else if (!Objects.equals(from, to)) {
        differences.put(name.toString(), values(from, to));
      }
    }
    return differences;
  }

  private static Map<?, ?> fields(@Nullable Object value) {
    return value instanceof Map<?, ?> fields ? fields : Map.of();
  }

  private static Map<String, Object> values(@Nullable Object from, @Nullable Object to) {
    Map<String, Object> values = new LinkedHashMap<>();
    if (from != null) {
      values.put("from", from);
    }
    if (to != null) {
      values.put("to", to);
    }
    return values;
  }
}

package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A tenant's settings that override those of its tier.
 *
 * @param limits the overridden limits
 * @param line whether refused callers wait in line; empty for the tier's setting
 */
public record Overrides(Map<Limit, Long> limits, Optional<Boolean> line) {
  /** No overrides. */
  public static final Overrides NONE = of(Map.of());

  /** Copies the limits. */
  public Overrides {
    limits = Map.copyOf(limits);
  }

  /** Overrides of limits alone. */
  public static Overrides of(Map<Limit, Long> limits) {
    return new Overrides(limits, Optional.empty());
  }

  /**
   * The tier's limits with those that are overridden.
   *
   * @throws InvalidValue if an override is out of range, or an idle session would outlast its
   *     lifetime
   */
  Limits limitsIn(Tier tier) {
    return tier.limits().with(limits);
  }

  /** The overrides for messages, such as {@code line=false tenantPerMinute=5}; or {@code none}. */
  @Override
  public String toString() {
    SortedMap<String, Object> named = new TreeMap<>();
    limits.forEach((limit, value) -> named.put(limit.key(), value));
    line.ifPresent(keeps -> named.put("line", keeps));
    return named.isEmpty()
        ? "none"
        : named.entrySet().stream().map(Object::toString).collect(Collectors.joining(" "));
  }
}

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
 * @param modes the modes that override those of the tier
 * @param line whether refused callers wait in line; empty for the tier's setting
 * @param schedules its own scheduled limits. While one of their windows is open, that of the tier
 *     does not count
 */
public record Overrides(
    Map<Limit, Long> limits,
    Map<Limit, LimitMode> modes,
    Optional<Boolean> line,
    LimitSchedules schedules) {
  /** No overrides. */
  public static final Overrides NONE = of(Map.of());

  /** Copies the limits and modes. */
  public Overrides {
    limits = Map.copyOf(limits);
    modes = Map.copyOf(modes);
  }

  /** Overrides without scheduled limits. */
  public Overrides(Map<Limit, Long> limits, Map<Limit, LimitMode> modes, Optional<Boolean> line) {
    this(limits, modes, line, LimitSchedules.NONE);
  }

  /** These overrides with other scheduled limits. */
  public Overrides with(LimitSchedules others) {
    return new Overrides(limits, modes, line, others);
  }

  /** Overrides of limits alone. */
  public static Overrides of(Map<Limit, Long> limits) {
    return new Overrides(limits, Map.of(), Optional.empty());
  }

  /** What the limits are multiplied by. */
  Factor factorIn(Tier tier) {
    return schedules.factor().or(tier.schedules()::factor).orElse(Factor.ONE);
  }

  /**
   * The tier's limits with those that are overridden, outside of the windows of schedules.
   *
   * @throws InvalidValue if an override is out of range, an idle session would outlast its
   *     lifetime, or a time has a mode
   */
  Limits limitsIn(Tier tier) {
    return tier.limits().with(limits, modes);
  }

  /** The overrides for messages, such as {@code line=false tenantPerMinute=5}; or {@code none}. */
  @Override
  public String toString() {
    SortedMap<String, Object> named = new TreeMap<>();
    limits.forEach((limit, value) -> named.put(limit.key(), value));
    modes.forEach((limit, mode) -> named.put("modes." + limit.key(), mode));
    line.ifPresent(keeps -> named.put("line", keeps));
    return named.isEmpty()
        ? "none"
        : named.entrySet().stream().map(Object::toString).collect(Collectors.joining(" "));
  }
}

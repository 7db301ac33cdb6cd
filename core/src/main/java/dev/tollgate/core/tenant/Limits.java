package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A value for every {@link Limit}, and what happens to requests that exceed it.
 *
 * @param values the values
 * @param modes the modes other than {@link LimitMode#ENFORCE}
 */
public record Limits(Map<Limit, Long> values, Map<Limit, LimitMode> modes) {
  /**
   * Adds the {@linkplain Limit#defaultValue default values} of missing limits, and checks all
   * limits and modes.
   *
   * @throws InvalidValue if a limit without a default value is missing, a limit is out of range, an
   *     idle session would outlast its lifetime, or a limit has a mode that it may not have
   */
  public Limits {
    Map<Limit, Long> complete = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      complete.put(limit, limit.checked(value(values, limit)));
    }
    long lifetime = value(complete, Limit.SESSION_LIFETIME);
    long idle = value(complete, Limit.SESSION_TTL);
    InvalidValue.unless(
        idle <= lifetime,
        Limit.SESSION_TTL.key(),
        idle,
        "at most " + Limit.SESSION_LIFETIME.key() + ", which is " + lifetime);
    values = Map.copyOf(complete);
    modes = notEnforced(modes);
  }

  /** Limits that are all enforced. */
  public Limits(Map<Limit, Long> values) {
    this(values, Map.of());
  }

  private static Map<Limit, LimitMode> notEnforced(Map<Limit, LimitMode> modes) {
    Map<Limit, LimitMode> others = new EnumMap<>(Limit.class);
    modes.forEach(
        (limit, mode) -> {
          if (limit.checked(mode) != LimitMode.ENFORCE) {
            others.put(limit, mode);
          }
        });
    return Map.copyOf(others);
  }

  private static long value(Map<Limit, Long> values, Limit limit) {
    return Optional.ofNullable(values.get(limit))
        .or(limit::defaultValue)
        .orElseThrow(() -> new InvalidValue(limit.key(), "missing", limit.expected()));
  }

  /** The first six limits, in the order of {@link Limit}; the others have their default values. */
  public static Limits of(
      long tenantPerMinute,
      long sessionPerMinute,
      long connectionsPerSession,
      long tenantConnections,
      long sessionTtlSeconds,
      long messagesPerMinute) {
    return new Limits(
        Map.of(
            Limit.TENANT_PER_MINUTE, tenantPerMinute,
            Limit.SESSION_PER_MINUTE, sessionPerMinute,
            Limit.CONNECTIONS_PER_SESSION, connectionsPerSession,
            Limit.TENANT_CONNECTIONS, tenantConnections,
            Limit.SESSION_TTL, sessionTtlSeconds,
            Limit.MESSAGES_PER_MINUTE, messagesPerMinute));
  }

  /** The value of a limit. */
  public long get(Limit limit) {
    return values.getOrDefault(limit, 0L);
  }

  /** What happens to a request that exceeds a limit. */
  public LimitMode mode(Limit limit) {
    return modes.getOrDefault(limit, LimitMode.ENFORCE);
  }

  /** The value above which a limit refuses: the largest one, unless its value is enforced. */
  public long bound(Limit limit) {
    return mode(limit) == LimitMode.ENFORCE ? get(limit) : limit.max();
  }

  /** These limits, none of which is enforced or observed. */
  public Limits off() {
    Map<Limit, LimitMode> off = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      if (limit.modes().contains(LimitMode.OFF)) {
        off.put(limit, LimitMode.OFF);
      }
    }
    return new Limits(values, off);
  }

  /** These limits, where every enforced one that can be observed is observed. */
  public Limits observed() {
    Map<Limit, LimitMode> observed = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      if (limit.modes().contains(LimitMode.OBSERVE) && mode(limit) == LimitMode.ENFORCE) {
        observed.put(limit, LimitMode.OBSERVE);
      }
    }
    return with(Map.of(), observed);
  }

  /** These limits, where every observed one has another mode. */
  public Limits withObserved(LimitMode mode) {
    Map<Limit, LimitMode> changed = new EnumMap<>(Limit.class);
    modes.forEach((limit, now) -> changed.put(limit, now == LimitMode.OBSERVE ? mode : now));
    return new Limits(values, changed);
  }

  /**
   * These limits with some values and modes replaced.
   *
   * @throws InvalidValue if one is out of range, an idle session would outlast its lifetime, or a
   *     time has a mode
   */
  public Limits with(Map<Limit, Long> overrides, Map<Limit, LimitMode> otherModes) {
    Map<Limit, Long> merged = new EnumMap<>(values);
    merged.putAll(overrides);
    Map<Limit, LimitMode> mergedModes = new HashMap<>(modes);
    mergedModes.putAll(otherModes);
    return new Limits(merged, mergedModes);
  }

  /** These limits with some values replaced, see {@link #with(Map, Map)}. */
  public Limits with(Map<Limit, Long> overrides) {
    return with(overrides, Map.of());
  }
}

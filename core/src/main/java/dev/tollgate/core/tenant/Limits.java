package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** A value for every {@link Limit}. */
public record Limits(Map<Limit, Long> values) {
  /**
   * Adds the {@linkplain Limit#defaultValue default values} of missing limits, and checks all
   * limits.
   *
   * @throws InvalidValue if a limit without a default value is missing, a limit is out of range, or
   *     an idle session would outlast its lifetime
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

  /** These times, and the largest values of all other limits. */
  public Limits lifted() {
    Map<Limit, Long> largest = new EnumMap<>(values);
    largest.replaceAll((limit, value) -> limit.isTime() ? value : limit.max());
    return new Limits(largest);
  }

  /**
   * These limits with some replaced.
   *
   * @throws InvalidValue if one is out of range, or an idle session would outlast its lifetime
   */
  public Limits with(Map<Limit, Long> overrides) {
    Map<Limit, Long> merged = new EnumMap<>(values);
    merged.putAll(overrides);
    return new Limits(merged);
  }
}

package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.util.EnumMap;
import java.util.Map;

/** A value for every {@link Limit}. */
public record Limits(Map<Limit, Long> values) {
  /**
   * Checks that every limit has a value that it can have.
   *
   * @throws InvalidValue if one is missing or out of range
   */
  public Limits {
    for (Limit limit : Limit.values()) {
      Long value = values.get(limit);
      if (value == null) {
        throw new InvalidValue(limit.key(), "missing", limit.expected());
      }
      limit.checked(value);
    }
    values = Map.copyOf(values);
  }

  /** The six, in the order of {@link Limit}. */
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

  /**
   * These limits with some replaced.
   *
   * @throws InvalidValue if one is out of range
   */
  public Limits with(Map<Limit, Long> overrides) {
    Map<Limit, Long> merged = new EnumMap<>(values);
    merged.putAll(overrides);
    return new Limits(merged);
  }
}

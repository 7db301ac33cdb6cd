package dev.tollgate.core.connect;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Refused connections of one tenant.
 *
 * @param byReason how many of each reason, each 1 or more; one reason at least
 * @param tenantFullAt when one was last refused because of {@code tenantConnections}
 * @param sessionFullAt when one was last refused because of {@code connectionsPerSession}
 */
public record RefusalCounts(
    Map<Refusal, Long> byReason, Optional<Instant> tenantFullAt, Optional<Instant> sessionFullAt) {
  /**
   * Checks and copies the numbers.
   *
   * @throws InvalidValue if one is below 1, or there is none
   */
  public RefusalCounts {
    byReason = Map.copyOf(byReason);
    InvalidValue.unless(!byReason.isEmpty(), "byReason", byReason, "a reason");
    byReason.forEach((why, count) -> InvalidValue.inRange(why.name(), count, 1, Long.MAX_VALUE));
  }

  /** How many, of all reasons. */
  public long count() {
    return byReason.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Refusals because the tenant's bucket is empty. */
  public static RefusalCounts of(long number) {
    return new RefusalCounts(
        Map.of(Refusal.TENANT_RATE, number), Optional.empty(), Optional.empty());
  }

  /** One refusal at {@code now}. */
  static RefusalCounts of(Refusal why, Instant now) {
    return new RefusalCounts(
        Map.of(why, 1L),
        Optional.of(now).filter(at -> why == Refusal.TENANT_CONNECTIONS),
        Optional.of(now).filter(at -> why == Refusal.SESSION_CONNECTIONS));
  }

  /** The sum of these and later refusals. */
  RefusalCounts and(RefusalCounts later) {
    Map<Refusal, Long> both = new EnumMap<>(byReason);
    later.byReason.forEach((why, count) -> both.merge(why, count, Long::sum));
    return new RefusalCounts(
        both,
        later.tenantFullAt.or(() -> tenantFullAt),
        later.sessionFullAt.or(() -> sessionFullAt));
  }
}

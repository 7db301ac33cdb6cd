package dev.tollgate.core.connect;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Refused connections of one tenant.
 *
 * @param byReason how many of each reason, each 1 or more; one reason at least
 * @param lastAt when the last of them was refused
 * @param tenantFullAt when one was last refused because of {@code tenantConnections}
 * @param sessionFullAt when one was last refused because of {@code connectionsPerSession}
 */
public record RefusalCounts(
    Map<Refusal, Long> byReason,
    Instant lastAt,
    Optional<Instant> tenantFullAt,
    Optional<Instant> sessionFullAt) {
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

  /** One refusal at {@code now}. */
  static RefusalCounts of(Refusal why, Instant now) {
    return new RefusalCounts(
        Map.of(why, 1L),
        now,
        Optional.of(now).filter(at -> why == Refusal.TENANT_CONNECTIONS),
        Optional.of(now).filter(at -> why == Refusal.SESSION_CONNECTIONS));
  }

  /** The sum of these and later refusals. */
  RefusalCounts and(RefusalCounts later) {
    Map<Refusal, Long> both = new EnumMap<>(byReason);
    later.byReason.forEach((why, count) -> both.merge(why, count, Long::sum));
    return new RefusalCounts(
        both,
        later.lastAt,
        later.tenantFullAt.or(() -> tenantFullAt),
        later.sessionFullAt.or(() -> sessionFullAt));
  }

  /**
   * These refusals, for a write that comes late: it must not replace the time of a later refusal by
   * a limit of connections.
   */
  RefusalCounts late() {
    return new RefusalCounts(byReason, lastAt, Optional.empty(), Optional.empty());
  }

  /** Whether the last of these was refused in the same minute as the last of others. */
  boolean isOfSameMinute(RefusalCounts other) {
    return lastAt
        .truncatedTo(ChronoUnit.MINUTES)
        .equals(other.lastAt.truncatedTo(ChronoUnit.MINUTES));
  }
}

package dev.tollgate.core.connect;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Refused connections of one tenant, and admitted ones that an observed limit would have refused.
 *
 * @param byReason how many were refused, by reason; each 1 or more
 * @param wouldRefuse how many would have been refused, by reason; each 1 or more
 * @param lastAt when the last of them was decided
 * @param tenantFullAt when one was last refused because of {@code tenantConnections}
 * @param sessionFullAt when one was last refused because of {@code connectionsPerSession}
 */
public record RefusalCounts(
    Map<Refusal, Long> byReason,
    Map<Refusal, Long> wouldRefuse,
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
    wouldRefuse = Map.copyOf(wouldRefuse);
    InvalidValue.unless(
        !byReason.isEmpty() || !wouldRefuse.isEmpty(), "byReason", byReason, "a reason");
    byReason.forEach((why, count) -> InvalidValue.inRange(why.name(), count, 1, Long.MAX_VALUE));
    wouldRefuse.forEach((why, count) -> InvalidValue.inRange(why.name(), count, 1, Long.MAX_VALUE));
  }

  /** How many were refused, of all reasons. */
  public long refused() {
    return sum(byReason);
  }

  /** How many were refused, or would have been. */
  long count() {
    return refused() + sum(wouldRefuse);
  }

  private static long sum(Map<Refusal, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** One refusal at {@code now}. */
  static RefusalCounts of(Refusal why, Instant now) {
    return of(Map.of(why, 1L), Map.of(), why, now);
  }

  /** One connection, admitted at {@code now}, that an observed limit would have refused. */
  static RefusalCounts ofObserved(Refusal why, Instant now) {
    return of(Map.of(), Map.of(why, 1L), why, now);
  }

  private static RefusalCounts of(
      Map<Refusal, Long> byReason, Map<Refusal, Long> wouldRefuse, Refusal why, Instant now) {
    return new RefusalCounts(
        byReason,
        wouldRefuse,
        now,
        Optional.of(now).filter(at -> why == Refusal.TENANT_CONNECTIONS),
        Optional.of(now).filter(at -> why == Refusal.SESSION_CONNECTIONS));
  }

  /** The sum of these and later refusals. */
  RefusalCounts and(RefusalCounts later) {
    return new RefusalCounts(
        sum(byReason, later.byReason),
        sum(wouldRefuse, later.wouldRefuse),
        later.lastAt,
        later.tenantFullAt.or(() -> tenantFullAt),
        later.sessionFullAt.or(() -> sessionFullAt));
  }

  private static Map<Refusal, Long> sum(Map<Refusal, Long> one, Map<Refusal, Long> other) {
    Map<Refusal, Long> both = new EnumMap<>(Refusal.class);
    both.putAll(one);
    other.forEach((why, count) -> both.merge(why, count, Long::sum));
    return both;
  }

  /**
   * These refusals, for a write that comes late: it must not replace the time of a later refusal by
   * a limit of connections.
   */
  RefusalCounts late() {
    return new RefusalCounts(byReason, wouldRefuse, lastAt, Optional.empty(), Optional.empty());
  }

  /** Whether the last of these was refused in the same minute as the last of others. */
  boolean isOfSameMinute(RefusalCounts other) {
    return lastAt
        .truncatedTo(ChronoUnit.MINUTES)
        .equals(other.lastAt.truncatedTo(ChronoUnit.MINUTES));
  }
}

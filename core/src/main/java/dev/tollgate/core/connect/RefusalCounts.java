package dev.tollgate.core.connect;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.Optional;

/**
 * Refused connections of one tenant.
 *
 * @param count how many, 1 or more
 * @param tenantFullAt when one was last refused because of {@code tenantConnections}
 * @param sessionFullAt when one was last refused because of {@code connectionsPerSession}
 */
public record RefusalCounts(
    long count, Optional<Instant> tenantFullAt, Optional<Instant> sessionFullAt) {
  /**
   * Checks the count.
   *
   * @throws InvalidValue if it is below 1
   */
  public RefusalCounts {
    InvalidValue.inRange("number", count, 1, Long.MAX_VALUE);
  }

  /** Refusals for other reasons than too many open connections. */
  public static RefusalCounts of(long number) {
    return new RefusalCounts(number, Optional.empty(), Optional.empty());
  }

  /** One refusal at {@code now}. */
  static RefusalCounts of(Refusal why, Instant now) {
    return new RefusalCounts(
        1,
        Optional.of(now).filter(at -> why == Refusal.TENANT_CONNECTIONS),
        Optional.of(now).filter(at -> why == Refusal.SESSION_CONNECTIONS));
  }

  /** The sum of these and later refusals. */
  RefusalCounts and(RefusalCounts later) {
    return new RefusalCounts(
        count + later.count,
        later.tenantFullAt.or(() -> tenantFullAt),
        later.sessionFullAt.or(() -> sessionFullAt));
  }
}

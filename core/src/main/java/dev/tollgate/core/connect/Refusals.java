package dev.tollgate.core.connect;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.Optional;

/**
 * Connections of one tenant that were refused.
 *
 * @param count how many, 1 or more
 * @param tenantFullAt when one was last refused because the tenant had as many as it may have
 * @param sessionFullAt when one was last refused because its session had as many as it may have
 */
public record Refusals(
    long count, Optional<Instant> tenantFullAt, Optional<Instant> sessionFullAt) {
  /**
   * Checks the number.
   *
   * @throws InvalidValue if there is none
   */
  public Refusals {
    InvalidValue.inRange("number", count, 1, Long.MAX_VALUE);
  }

  /** So many, none because too many connections were open. */
  public static Refusals of(long number) {
    return new Refusals(number, Optional.empty(), Optional.empty());
  }

  /** One that is refused at {@code now}. */
  static Refusals of(Refusal why, Instant now) {
    return new Refusals(
        1,
        Optional.of(now).filter(at -> why == Refusal.TENANT_CONNECTIONS),
        Optional.of(now).filter(at -> why == Refusal.SESSION_CONNECTIONS));
  }

  /** These and later ones. */
  Refusals and(Refusals later) {
    return new Refusals(
        count + later.count,
        later.tenantFullAt.or(() -> tenantFullAt),
        later.sessionFullAt.or(() -> sessionFullAt));
  }
}

package dev.tollgate.core.session;

import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Limits;
import java.time.Instant;
import java.util.Optional;

/**
 * The latest end of a session, however much it is used: {@link Limit#SESSION_LIFETIME} after its
 * creation, and the end of the token of its creation or last renewal.
 *
 * @param createdAt when it was created, to the second; empty in rows of older versions until the
 *     session is used
 * @param tokenEndsAt the latest end of the tokens that it was created or renewed with; empty where
 *     sessions need no token
 */
public record Lifetime(Optional<Instant> createdAt, Optional<Instant> tokenEndsAt) {
  /** The lifetime of a session whose creation and token are unknown. */
  public static final Lifetime UNKNOWN = new Lifetime(Optional.empty(), Optional.empty());

  /** When the session ends at the latest; empty if nothing limits it yet. */
  public Optional<Instant> latestEnd(Limits limits) {
    Optional<Instant> bound =
        createdAt.map(created -> created.plusSeconds(limits.get(Limit.SESSION_LIFETIME)));
    return bound.isPresent() && tokenEndsAt.isPresent()
        ? Optional.of(earlier(bound.get(), tokenEndsAt.get()))
        : bound.or(() -> tokenEndsAt);
  }

  /** The earlier of {@code end} and the latest end under these limits. */
  public Instant capped(Instant end, Limits limits) {
    return latestEnd(limits).map(bound -> earlier(bound, end)).orElse(end);
  }

  /**
   * This lifetime after a renewal at {@code now}. A token that ends later than earlier ones extends
   * it; the creation never changes.
   */
  Lifetime renewed(Optional<Instant> newTokenEndsAt, Instant now) {
    Optional<Instant> latest =
        tokenEndsAt.filter(before -> newTokenEndsAt.filter(before::isBefore).isEmpty());
    return new Lifetime(createdAt.or(() -> Optional.of(now)), latest.or(() -> newTokenEndsAt));
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }
}

package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The totals of a tenant's connections, and its buckets.
 *
 * @param connections the count of open connections
 * @param admitted connections admitted since the tenant was onboarded. A connection that loses a
 *     race is included until it is undone. A connection whose count got no response may stay
 *     included
 * @param withoutToken at most so many of the admitted connections were admitted without a token, or
 *     counted and not admitted
 * @param admittedLastAt when a connection was last admitted; empty if none was
 * @param refused connections of its sessions that were refused since the tenant was onboarded,
 *     except those that {@link RefusalTally} lost
 * @param buckets its buckets by action, with their last known levels
 */
public record TenantActivity(
    long connections,
    long admitted,
    long withoutToken,
    Optional<Instant> admittedLastAt,
    long refused,
    List<Bucket> buckets) {
  /** Copies the buckets. */
  public TenantActivity {
    buckets = List.copyOf(buckets);
  }
}

package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import java.util.List;

/**
 * The totals of a tenant's connections, and its buckets.
 *
 * @param connections the count of open connections
 * @param admitted connections admitted since the tenant was onboarded. A connection that loses a
 *     race is included until it is undone. A connection whose count got no response may stay
 *     included
 * @param refused connections of its sessions that were refused since the tenant was onboarded,
 *     except those that {@link RefusalTally} lost
 * @param buckets its buckets by action, with their last known levels
 */
public record TenantActivity(long connections, long admitted, long refused, List<Bucket> buckets) {
  /** Copies the buckets. */
  public TenantActivity {
    buckets = List.copyOf(buckets);
  }
}

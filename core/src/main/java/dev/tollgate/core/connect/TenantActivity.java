package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import java.util.List;

/**
 * The totals of a tenant's connections, and its buckets.
 *
 * @param connections the count of open connections
 * @param admitted connections admitted since the tenant was onboarded. A connection that is undone
 *     after a race is included until then; one whose count had no response may stay included
 * @param refused connections of its sessions refused since then, except those that {@link
 *     RefusalTally} lost
 * @param buckets its buckets by action, with their last known levels
 */
public record TenantActivity(long connections, long admitted, long refused, List<Bucket> buckets) {
  /** Copies the buckets. */
  public TenantActivity {
    buckets = List.copyOf(buckets);
  }
}

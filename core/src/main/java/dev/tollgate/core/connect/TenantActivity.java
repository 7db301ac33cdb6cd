package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import java.util.List;

/**
 * How a tenant's connections and buckets are doing.
 *
 * @param connections the connections that are counted
 * @param admitted how many were admitted since the tenant was onboarded. One that is taken back
 *     because it lost a race is in it for as long as that takes; one whose counting was not
 *     answered may stay in it
 * @param refused how many of its sessions' were refused since then, but for those that {@link
 *     RefusalTally} lost
 * @param buckets its buckets by action, with their levels as last seen
 */
public record TenantActivity(long connections, long admitted, long refused, List<Bucket> buckets) {
  /** Copies the buckets. */
  public TenantActivity {
    buckets = List.copyOf(buckets);
  }
}

package dev.tollgate.core.bucket;

import dev.tollgate.core.Action;
import dev.tollgate.core.UnreadableRow;
import java.util.List;
import java.util.Map;

/**
 * The rows of a tenant's buckets.
 *
 * @param buckets those that can be read, by action
 * @param unreadable those that cannot
 * @param strays the names of rows that stand among them and name no bucket: a hand has written them
 */
public record BucketRows(
    List<Bucket> buckets, Map<Action, UnreadableRow> unreadable, List<String> strays) {
  /** Copies them. */
  public BucketRows {
    buckets = List.copyOf(buckets);
    unreadable = Map.copyOf(unreadable);
    strays = List.copyOf(strays);
  }

  /** Rows that can all be read. */
  public BucketRows(List<Bucket> buckets) {
    this(buckets, Map.of(), List.of());
  }
}

package dev.tollgate.core.bucket;

import dev.tollgate.core.Action;
import dev.tollgate.core.UnreadableRow;
import java.util.List;
import java.util.Map;

/**
 * The rows of a tenant's buckets.
 *
 * @param buckets the readable buckets, by action
 * @param unreadable the errors of unreadable rows, by action
 * @param strays the keys of rows with a bucket's prefix that name no bucket, because the table was
 *     edited by hand
 */
public record BucketRows(
    List<Bucket> buckets, Map<Action, UnreadableRow> unreadable, List<String> strays) {
  /** Copies the collections. */
  public BucketRows {
    buckets = List.copyOf(buckets);
    unreadable = Map.copyOf(unreadable);
    strays = List.copyOf(strays);
  }

  /** Rows that are all readable. */
  public BucketRows(List<Bucket> buckets) {
    this(buckets, Map.of(), List.of());
  }
}

package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import java.util.Optional;

/**
 * Has schedules follow the rows of their buckets. A row may change while its schedule is being
 * changed; so whoever has changed a schedule reads the row once more.
 */
public final class BucketSchedules {
  private static final int MOST_ATTEMPTS = 5;

  private final Buckets buckets;
  private final FillSchedules schedules;

  /** The schedules of buckets that are written down in {@code buckets}. */
  public BucketSchedules(Buckets buckets, FillSchedules schedules) {
    this.buckets = buckets;
    this.schedules = schedules;
  }

  /**
   * Makes the bucket's schedule what its row says.
   *
   * @param read the row as it was read or written just now; without one there is to be no schedule
   * @throws Unavailable if row or schedule could not be asked, or the row does not come to rest
   */
  public void follow(BucketId id, Optional<Bucket> read) {
    Optional<Bucket> row = read;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      row.ifPresentOrElse(schedules::put, () -> schedules.delete(id));
      Optional<Bucket> now = buckets.find(id);
      if (row.isPresent() ? now.filter(row.get()::hasSameScheduleAs).isPresent() : now.isEmpty()) {
        return;
      }
      row = now;
    }
    throw new Unavailable("schedule " + id + ": overtaken " + MOST_ATTEMPTS + " times");
  }
}

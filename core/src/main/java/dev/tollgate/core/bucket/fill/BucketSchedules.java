package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import java.util.Optional;

/**
 * Updates schedules to match their buckets' rows. A row may change during the update, so each
 * update reads the row again afterwards.
 */
public final class BucketSchedules {
  private static final int MAX_ATTEMPTS = 5;

  private final Buckets buckets;
  private final FillSchedules schedules;

  /** The schedules of the buckets in {@code buckets}. */
  public BucketSchedules(Buckets buckets, FillSchedules schedules) {
    this.buckets = buckets;
    this.schedules = schedules;
  }

  /**
   * Updates the bucket's schedule to match its row. Deletes the schedule if there is no row.
   *
   * @param read the row as just read or written
   * @throws Unavailable if the row or the schedule fails, or the row changes at every attempt
   */
  public void follow(BucketId id, Optional<Bucket> read) {
    Optional<Bucket> row = read;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      row.ifPresentOrElse(schedules::put, () -> schedules.delete(id));
      Optional<Bucket> now = buckets.find(id);
      if (row.isPresent() ? now.filter(row.get()::hasSameScheduleAs).isPresent() : now.isEmpty()) {
        return;
      }
      row = now;
    }
    throw new Unavailable("schedule " + id + ": the bucket changed " + MAX_ATTEMPTS + " times");
  }
}

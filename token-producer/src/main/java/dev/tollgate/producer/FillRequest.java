package dev.tollgate.producer;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;

/** What the producer is asked for: by a schedule, or by a claim. */
sealed interface FillRequest {
  /**
   * The turn of a bucket.
   *
   * @param through the minute that the schedule fired for, for the log; {@code
   *     <aws.scheduler.scheduled-time>} of EventBridge Scheduler
   */
  record OfBucket(BucketId bucket, Instant through) implements FillRequest {}

  /** The turns of a shard's buckets, for this minute. */
  record OfShard(Shard shard, Instant through) implements FillRequest {}

  /** A bucket that a claim found empty or asleep. */
  record ByClaim(BucketId bucket) implements FillRequest {}

  /**
   * Reads the input of a schedule or a claim.
   *
   * @throws InvalidValue if a value is missing or wrong
   */
  static FillRequest of(Map<String, String> input) {
    Optional<Instant> through =
        Optional.ofNullable(input.get("scheduledTime")).map(FillRequest::time);
    Optional<Shard> shard = Optional.ofNullable(input.get("shard")).map(Shard::named);
    if (shard.isPresent()) {
      return new OfShard(
          shard.get(),
          through.orElseThrow(() -> new InvalidValue("scheduledTime", "missing", "an instant")));
    }
    BucketId bucket =
        new BucketId(
            new TenantId(required(input, "tenantId")), new Action(required(input, "action")));
    return through
        .<FillRequest>map(minute -> new OfBucket(bucket, minute))
        .orElseGet(() -> new ByClaim(bucket));
  }

  private static String required(Map<String, String> input, String field) {
    return Optional.ofNullable(input.get(field))
        .orElseThrow(() -> new InvalidValue(field, "missing", "a text"));
  }

  private static Instant time(String value) {
    try {
      return Instant.parse(value);
    } catch (DateTimeParseException unreadable) {
      throw new InvalidValue("scheduledTime", value, "an instant such as 2026-01-01T00:00:00Z");
    }
  }
}

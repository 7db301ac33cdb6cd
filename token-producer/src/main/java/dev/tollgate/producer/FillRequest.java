package dev.tollgate.producer;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.ShardTurn;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;

/** A request to the token producer, from a schedule or from a claim. */
sealed interface FillRequest {
  /**
   * A request of a bucket's own schedule.
   *
   * @param through the minute for which the schedule fired ({@code <aws.scheduler.scheduled-time>}
   *     of EventBridge Scheduler); used only in the log and in the metric of delays
   */
  record OfBucket(BucketId bucket, Instant through) implements FillRequest {}

  /** A request of a shard's schedule for all due buckets, or of a part for those that are left. */
  record OfShard(ShardTurn turn) implements FillRequest {}

  /** A request of a claim that found its bucket empty or hibernating. */
  record ByClaim(BucketId bucket) implements FillRequest {}

  /**
   * Parses the input of a schedule or a claim.
   *
   * @throws InvalidValue if a value is missing or invalid
   */
  static FillRequest of(Map<String, String> input) {
    Optional<Instant> through =
        Optional.ofNullable(input.get("scheduledTime")).map(FillRequest::time);
    Optional<Shard> shard = Optional.ofNullable(input.get("shard")).map(Shard::named);
    if (shard.isPresent()) {
      return new OfShard(
          new ShardTurn(
              shard.get(),
              through.orElseThrow(() -> new InvalidValue("scheduledTime", "missing", "an instant")),
              Optional.ofNullable(input.get("after")),
              Optional.ofNullable(input.get("part")).map(FillRequest::part).orElse(0)));
    }
    BucketId bucket =
        new BucketId(
            new TenantId(required(input, "tenantId")), new Action(required(input, "action")));
    return through
        .<FillRequest>map(minute -> new OfBucket(bucket, minute))
        .orElseGet(() -> new ByClaim(bucket));
  }

  private static int part(String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException other) {
      throw new InvalidValue("part", value, "a number");
    }
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

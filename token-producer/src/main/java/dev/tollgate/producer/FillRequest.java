package dev.tollgate.producer;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;

/**
 * What a schedule asks for.
 *
 * @param bucket which bucket to fill
 * @param scheduledTime the minute that it is filled for; {@code <aws.scheduler.scheduled-time>} of
 *     EventBridge Scheduler
 */
record FillRequest(BucketId bucket, Instant scheduledTime) {
  /**
   * Reads the input of a schedule.
   *
   * @throws InvalidValue if a value is missing or wrong
   */
  static FillRequest of(Map<String, String> input) {
    return new FillRequest(
        new BucketId(
            new TenantId(required(input, "tenantId")), new Action(required(input, "action"))),
        time(required(input, "scheduledTime")));
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

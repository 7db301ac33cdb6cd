package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The definition of a schedule in a request, completed with the defaults of the service.
 *
 * @param windowMinutes the flexible time window, or empty for mode OFF. This engine fires at the
 *     start of the window
 */
record Definition(
    Optional<String> description,
    String expression,
    String timezone,
    Optional<Instant> startDate,
    Optional<Instant> endDate,
    OptionalInt windowMinutes,
    boolean enabled,
    boolean deletedAfterCompletion,
    Optional<String> kmsKeyArn,
    Target target) {
  private static final Duration START_DATE_TOLERANCE = Duration.ofMinutes(5);
  private static final Pattern KMS_KEY =
      Pattern.compile("arn:aws(-[a-z]+)?:kms:[a-z0-9\\-]+:\\d{12}:(key|alias)\\/[0-9a-zA-Z-_]*");

  /**
   * Reads the members of a request and checks them, together with those that the caller has read.
   */
  static Definition parse(Members members) {
    Members window = members.requiredStructure("FlexibleTimeWindow");
    String mode = window.requiredChoice("Mode", "OFF", "FLEXIBLE");
    OptionalInt minutes = window.integer("MaximumWindowInMinutes", 1, 1440);
    Members target = members.requiredStructure("Target");
    Definition definition =
        new Definition(
            members.text("Description", 0, 512),
            members.requiredText("ScheduleExpression", 1, 256, Optional.empty()),
            members.text("ScheduleExpressionTimezone", 1, 50).orElse("UTC"),
            members.time("StartDate"),
            members.time("EndDate"),
            minutes,
            members.choice("State", "ENABLED", "DISABLED").equals("ENABLED"),
            members.choice("ActionAfterCompletion", "NONE", "DELETE").equals("DELETE"),
            members.text("KmsKeyArn", 1, 2048, Optional.of(KMS_KEY)),
            Target.parse(target));
    members.check();

    if (mode.equals("FLEXIBLE") == minutes.isEmpty()) {
      throw ApiException.validation(
          "MaximumWindowInMinutes is %s when FlexibleTimeWindow Mode is %s."
              .formatted(minutes.isEmpty() ? "required" : "not allowed", mode));
    }
    if (!ZoneId.getAvailableZoneIds().contains(definition.timezone)) {
      throw ApiException.validation(
          "Invalid ScheduleExpressionTimezone " + definition.timezone + ".");
    }
    try {
      definition.timing(Instant.EPOCH);
    } catch (IllegalArgumentException e) {
      throw ApiException.validation("Invalid Schedule Expression " + definition.expression + ".");
    }
    definition.target.check(target);
    return definition;
  }

  /** Refuses dates that are not valid at {@code now}. One-time schedules ignore their dates. */
  void checkDates(Instant now) {
    if (expression.startsWith("at(")) {
      return;
    }
    if (startDate.isPresent() && startDate.get().isBefore(now.minus(START_DATE_TOLERANCE))) {
      throw ApiException.validation(
          "The StartDate you specify cannot be earlier than 5 minutes ago.");
    }
    if (endDate.isPresent() && !endDate.get().isAfter(startDate.orElse(now))) {
      throw ApiException.validation(
          startDate.isPresent()
              ? "The EndDate you specify must be later than the StartDate."
              : "The EndDate you specify must be in the future.");
    }
  }

  /** The due times of the schedule, if it was last changed at {@code anchor}. */
  Timing timing(Instant anchor) {
    return Timing.of(expression, ZoneId.of(timezone), anchor, startDate, endDate);
  }

  /** Whether another definition has the same due times, if both are changed at the same time. */
  boolean sameTimes(Definition other) {
    return enabled == other.enabled
        && expression.equals(other.expression)
        && timezone.equals(other.timezone)
        && startDate.equals(other.startDate)
        && endDate.equals(other.endDate);
  }

  /**
   * The members of the answer of GetSchedule, including defaults. Reading them returns an equal
   * definition.
   */
  ObjectNode toJson() {
    ObjectNode json = Json.object();
    description.ifPresent(value -> json.put("Description", value));
    json.put("ScheduleExpression", expression).put("ScheduleExpressionTimezone", timezone);
    startDate.ifPresent(value -> json.put("StartDate", Json.epochSeconds(value)));
    endDate.ifPresent(value -> json.put("EndDate", Json.epochSeconds(value)));
    ObjectNode window = json.putObject("FlexibleTimeWindow");
    window.put("Mode", windowMinutes.isPresent() ? "FLEXIBLE" : "OFF");
    windowMinutes.ifPresent(value -> window.put("MaximumWindowInMinutes", value));
    json.put("State", state())
        .put("ActionAfterCompletion", deletedAfterCompletion ? "DELETE" : "NONE");
    kmsKeyArn.ifPresent(value -> json.put("KmsKeyArn", value));
    json.set("Target", target.toJson());
    return json;
  }

  String state() {
    return enabled ? "ENABLED" : "DISABLED";
  }
}

package dev.tollgate.aws.scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.scheduler.model.CreateScheduleRequest;
import software.amazon.awssdk.services.scheduler.model.DeadLetterConfig;
import software.amazon.awssdk.services.scheduler.model.GetScheduleResponse;
import software.amazon.awssdk.services.scheduler.model.RetryPolicy;
import software.amazon.awssdk.services.scheduler.model.Target;

/**
 * Compares an existing schedule with the desired one: whether, when and how it fires. Ignores
 * descriptions, which are for people.
 */
final class ScheduleDifferences {
  private static final int SHOWN = 160;

  private final List<String> differences = new ArrayList<>();

  private ScheduleDifferences() {}

  /** One text for each difference, with the current and the expected value. */
  static List<String> between(GetScheduleResponse current, CreateScheduleRequest wanted) {
    ScheduleDifferences all = new ScheduleDifferences();
    all.compare("state", current.stateAsString(), wanted.stateAsString());
    all.compare("expression", current.scheduleExpression(), wanted.scheduleExpression());
    all.compare(
        "time zone", current.scheduleExpressionTimezone(), wanted.scheduleExpressionTimezone());
    all.compare("window", current.flexibleTimeWindow(), wanted.flexibleTimeWindow());
    all.compare("start", current.startDate(), wanted.startDate());
    all.compare("end", current.endDate(), wanted.endDate());
    Optional<Target> target = Optional.ofNullable(current.target());
    all.target("target", target, wanted, Target::arn);
    all.target("role", target, wanted, Target::roleArn);
    all.target("input", target, wanted, Target::input);
    all.target(
        "retries", target, wanted, of(Target::retryPolicy, RetryPolicy::maximumRetryAttempts));
    all.target(
        "retry period in seconds",
        target,
        wanted,
        of(Target::retryPolicy, RetryPolicy::maximumEventAgeInSeconds));
    all.target("dead letters", target, wanted, of(Target::deadLetterConfig, DeadLetterConfig::arn));
    return all.differences;
  }

  private static <T, R> Function<Target, @Nullable R> of(
      Function<Target, @Nullable T> part, Function<T, @Nullable R> value) {
    return target -> {
      T found = part.apply(target);
      return found == null ? null : value.apply(found);
    };
  }

  private <R> void target(
      String what,
      Optional<Target> current,
      CreateScheduleRequest wanted,
      Function<Target, @Nullable R> value) {
    compare(what, current.map(value).orElse(null), value.apply(wanted.target()));
  }

  private void compare(String what, @Nullable Object current, @Nullable Object wanted) {
    if (!Objects.equals(current, wanted)) {
      differences.add(what + ": " + shown(current) + " (expected: " + shown(wanted) + ")");
    }
  }

  private static String shown(@Nullable Object value) {
    String text = value == null ? "none" : value.toString();
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }
}

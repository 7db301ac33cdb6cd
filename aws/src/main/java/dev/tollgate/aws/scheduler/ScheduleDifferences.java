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
 * In what a schedule that stands differs from one that would be made now: in whether, when and how
 * it fires. Descriptions are for people and do not count.
 */
final class ScheduleDifferences {
  private static final int SHOWN = 160;

  private final List<String> differences = new ArrayList<>();

  private ScheduleDifferences() {}

  /** One text for each part that differs: what is there, and what should be. */
  static List<String> between(GetScheduleResponse stands, CreateScheduleRequest wanted) {
    ScheduleDifferences all = new ScheduleDifferences();
    all.compare("state", stands.stateAsString(), wanted.stateAsString());
    all.compare("expression", stands.scheduleExpression(), wanted.scheduleExpression());
    all.compare("window", stands.flexibleTimeWindow(), wanted.flexibleTimeWindow());
    all.compare("start", stands.startDate(), wanted.startDate());
    all.compare("end", stands.endDate(), wanted.endDate());
    Optional<Target> target = Optional.ofNullable(stands.target());
    all.target("target", target, wanted, Target::arn);
    all.target("role", target, wanted, Target::roleArn);
    all.target("input", target, wanted, Target::input);
    all.target(
        "retries", target, wanted, of(Target::retryPolicy, RetryPolicy::maximumRetryAttempts));
    all.target(
        "retries for so many seconds",
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
      Optional<Target> stands,
      CreateScheduleRequest wanted,
      Function<Target, @Nullable R> value) {
    compare(what, stands.map(value).orElse(null), value.apply(wanted.target()));
  }

  private void compare(String what, @Nullable Object stands, @Nullable Object wanted) {
    if (!Objects.equals(stands, wanted)) {
      differences.add(what + ": " + shown(stands) + " (expected: " + shown(wanted) + ")");
    }
  }

  private static String shown(@Nullable Object value) {
    String text = value == null ? "none" : value.toString();
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }
}

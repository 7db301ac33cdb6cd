package dev.tollgate.local.scheduler;

import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to deliver one event, with the target that the schedule had when the event occurred.
 * After a failure it decides between a retry and the dead-letter queue. See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html">Configuring
 * a dead-letter queue</a>.
 *
 * @param scheduledTime when the event occurred
 * @param due when the attempt is due: the scheduled time, or the time of a retry
 * @param number 1 for the first attempt
 */
record Attempt(Schedule schedule, Instant scheduledTime, Instant due, int number)
    implements Comparable<Attempt> {
  private static final Logger LOG = LoggerFactory.getLogger(Attempt.class);
  private static final Duration FIRST_BACKOFF = Duration.ofSeconds(1);

  /** With this bound the default 185 attempts fill the default 24 hours. */
  private static final Duration LONGEST_BACKOFF = Duration.ofMinutes(8);

  private static final Comparator<Attempt> ORDER =
      Comparator.comparing(Attempt::due).thenComparing(Attempt::scheduledTime);

  /** Calls the target. Returns the next attempt, if there is one. */
  Optional<Attempt> execute(Environment environment, Targets targets) {
    Target target = schedule.definition().target();
    Targets.Rights rights = schedule.rights(environment);
    String executionId = "%016x".formatted(ThreadLocalRandom.current().nextLong());
    String payload = payload(environment, executionId);
    Instant begun = environment.clock().instant();
    if (!(call(() -> target.call(targets, rights, payload)) instanceof Targets.Failed failed)) {
      return Optional.empty();
    }
    Attempt retry = retry(Duration.between(begun, environment.clock().instant()));
    Optional<String> exhausted =
        number > target.maximumRetryAttempts()
            ? Optional.of("MaximumRetryAttempts")
            : Duration.between(scheduledTime, retry.due).compareTo(target.maximumEventAge()) > 0
                ? Optional.of("MaximumEventAgeInSeconds")
                : Optional.empty();
    if (failed.retryable() && exhausted.isEmpty()) {
      return Optional.of(retry);
    }
    var attributes = new TreeMap<String, String>();
    attributes.put("ERROR_CODE", failed.errorCode());
    attributes.put("ERROR_MESSAGE", failed.message());
    attributes.put("EXECUTION_ID", executionId);
    attributes.put("IS_PAYLOAD_TRUNCATED", "false");
    attributes.put("RETRY_ATTEMPTS", Integer.toString(number - 1));
    attributes.put("SCHEDULED_TIME", scheduledTimeText());
    attributes.put("SCHEDULE_ARN", schedule.key().arn(environment));
    attributes.put("TARGET_ARN", target.actionArn());
    if (failed.retryable()) {
      exhausted.ifPresent(condition -> attributes.put("EXHAUSTED_RETRY_CONDITION", condition));
    }
    LOG.warn("Not delivered: {}", attributes);
    targets.dropped(schedule.key().group());
    target
        .deadLetterArn()
        .map(
            queue -> call(() -> target.sendDeadLetter(targets, rights, queue, payload, attributes)))
        .filter(Targets.Failed.class::isInstance)
        .ifPresent(lost -> LOG.warn("Not dead-lettered: {}", lost));
    return Optional.empty();
  }

  private static Targets.Outcome call(Supplier<Targets.Outcome> target) {
    try {
      return target.get();
    } catch (RuntimeException e) {
      LOG.warn("A target threw", e);
      return new Targets.Failed(
          "AWS.Scheduler.InternalServerError",
          "Unexpected error occurred while processing the request",
          true);
    }
  }

  /**
   * The next attempt, if this one fails. Its time is counted from the due time of this attempt, not
   * from its execution. So an event has the same number of attempts if the clock jumps.
   *
   * @param took how long this attempt took
   */
  private Attempt retry(Duration took) {
    return new Attempt(schedule, scheduledTime, due.plus(took).plus(backoff(number)), number + 1);
  }

  private String scheduledTimeText() {
    return DateTimeFormatter.ISO_INSTANT.format(scheduledTime.truncatedTo(ChronoUnit.SECONDS));
  }

  /**
   * The input with its context attributes replaced, or the notification that the service sends if a
   * schedule has no input. See <a
   * href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html">Adding
   * context attributes</a>.
   */
  private String payload(Environment environment, String executionId) {
    return schedule
        .definition()
        .target()
        .input()
        .map(
            input ->
                input
                    .replace("<aws.scheduler.schedule-arn>", schedule.key().arn(environment))
                    .replace("<aws.scheduler.scheduled-time>", scheduledTimeText())
                    .replace("<aws.scheduler.execution-id>", executionId)
                    .replace("<aws.scheduler.attempt-number>", Integer.toString(number)))
        .orElseGet(() -> notification(environment, executionId));
  }

  private String notification(Environment environment, String executionId) {
    var event =
        Json.object()
            .put("version", "0")
            .put("id", executionId)
            .put("detail-type", "Scheduled Event")
            .put("source", "aws.scheduler")
            .put("account", environment.accountId())
            .put("time", scheduledTimeText())
            .put("region", environment.region());
    event.putArray("resources").add(schedule.key().arn(environment));
    return event.put("detail", "{}").toString();
  }

  /** Exponential: 1 s, 2 s, 4 s … 8 min. */
  private static Duration backoff(int failures) {
    Duration backoff = FIRST_BACKOFF.multipliedBy(1L << Math.min(failures - 1, 20));
    return backoff.compareTo(LONGEST_BACKOFF) < 0 ? backoff : LONGEST_BACKOFF;
  }

  @Override
  public int compareTo(Attempt other) {
    return ORDER.compare(this, other);
  }
}

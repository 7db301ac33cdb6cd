package dev.tollgate.local.scheduler;

import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One attempt to deliver one event, with the target that the schedule had when the event occurred.
 *
 * @param scheduledTime when the event occurred
 * @param due when the attempt is due: the scheduled time, or the time of a retry
 * @param number 1 for the first attempt
 */
record Attempt(Schedule schedule, Instant scheduledTime, Instant due, int number)
    implements Comparable<Attempt> {
  private static final Duration FIRST_BACKOFF = Duration.ofSeconds(1);

  /** With this bound the default 185 attempts fill the default 24 hours. */
  private static final Duration LONGEST_BACKOFF = Duration.ofMinutes(8);

  private static final Comparator<Attempt> ORDER =
      Comparator.comparing(Attempt::due).thenComparing(Attempt::scheduledTime);

  /**
   * The next attempt, if this one fails. Its time is counted from the due time of this attempt, not
   * from its execution. So an event has the same number of attempts if the clock jumps.
   *
   * @param took how long this attempt took
   */
  Attempt retry(Duration took) {
    return new Attempt(schedule, scheduledTime, due.plus(took).plus(backoff(number)), number + 1);
  }

  int retries() {
    return number - 1;
  }

  /** How old the event is when this attempt is due. */
  Duration age() {
    return Duration.between(scheduledTime, due);
  }

  String scheduledTimeText() {
    return DateTimeFormatter.ISO_INSTANT.format(scheduledTime.truncatedTo(ChronoUnit.SECONDS));
  }

  /** An identifier of one attempt, in the format of the service. */
  static String newExecutionId() {
    return "%016x".formatted(ThreadLocalRandom.current().nextLong());
  }

  /**
   * The input with its context attributes replaced, or the notification that the service sends if a
   * schedule has no input. See <a
   * href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html">Adding
   * context attributes</a>.
   */
  String payload(Environment environment, String executionId) {
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
  static Duration backoff(int failures) {
    Duration backoff = FIRST_BACKOFF.multipliedBy(1L << Math.min(failures - 1, 20));
    return backoff.compareTo(LONGEST_BACKOFF) < 0 ? backoff : LONGEST_BACKOFF;
  }

  @Override
  public int compareTo(Attempt other) {
    return ORDER.compare(this, other);
  }
}

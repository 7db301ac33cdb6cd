package dev.tollgate.aws.scheduler;

import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.tenant.LimitSchedule;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ActionAfterCompletion;
import software.amazon.awssdk.services.scheduler.model.ConflictException;
import software.amazon.awssdk.services.scheduler.model.CreateScheduleRequest;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindowMode;
import software.amazon.awssdk.services.scheduler.model.ResourceNotFoundException;

/**
 * Two EventBridge schedules for each window, which invoke the sweep once and delete themselves. A
 * name follows from the owner and the instant, so a repeated creation finds the schedule.
 *
 * <p>Uses the function's own role: a window may belong to a tier.
 */
public final class EventBridgeWindowSchedules implements WindowSchedules {
  private static final DateTimeFormatter AT =
      DateTimeFormatter.ofPattern("'at('yyyy-MM-dd'T'HH:mm:ss')'", Locale.ROOT);

  /** The sweep of the next minute does the work of a later event. */
  private static final Duration LATEST = Duration.ofSeconds(60);

  private static final int RETRIES = 2;

  private final SchedulerClient scheduler;
  private final EventBridgeFillSchedules.Destination destination;

  /**
   * Schedules with this destination.
   *
   * @param destination its target is the sweep
   */
  public EventBridgeWindowSchedules(
      SchedulerClient scheduler, EventBridgeFillSchedules.Destination destination) {
    this.scheduler = scheduler;
    this.destination = destination;
  }

  /** One end of a window. */
  private record End(String name, Instant at, ZoneId zone) {
    private static End of(Subject owner, Instant at, ZoneId zone, String what) {
      // A name has 64 characters at most: this leaves 7 for the minute.
      String minute = Long.toString(at.getEpochSecond() / 60, Character.MAX_RADIX);
      return new End(
          "limit." + owner.value().replace('/', '.') + "." + minute + "." + what, at, zone);
    }

    /**
     * EventBridge does not fire at a local time that does not exist, so the time is that of the
     * instant.
     */
    private LocalDateTime local() {
      return at.atZone(timezone()).toLocalDateTime();
    }

    /** UTC at a local time that exists twice, because EventBridge may take either. */
    private ZoneId timezone() {
      boolean isUnique =
          zone.getRules().getValidOffsets(at.atZone(zone).toLocalDateTime()).size() == 1;
      return isUnique ? zone : ZoneOffset.UTC;
    }

    private String timezoneName() {
      return timezone().equals(ZoneOffset.UTC) ? "UTC" : zone.getId();
    }
  }

  private static Stream<End> ends(Subject owner, LimitSchedule window) {
    return Stream.of(
        End.of(owner, window.opensAt(), window.zone(), "open"),
        End.of(owner, window.closesAt(), window.zone(), "close"));
  }

  private static Stream<End> ends(Subject owner, LimitSchedule window, Instant now) {
    return ends(owner, window).filter(end -> end.at().isAfter(now));
  }

  @Override
  public void put(Subject owner, LimitSchedule window, Instant now) {
    ends(owner, window, now)
        .forEach(
            end ->
                askUnless(
                    "Scheduler CreateSchedule of " + end.name(),
                    ConflictException.class,
                    () -> scheduler.createSchedule(wanted(owner, window, end))));
  }

  private CreateScheduleRequest wanted(Subject owner, LimitSchedule window, End end) {
    return CreateScheduleRequest.builder()
        .groupName(destination.group())
        .name(end.name())
        .description(owner + ": " + window)
        .scheduleExpression(AT.format(end.local()))
        .scheduleExpressionTimezone(end.timezoneName())
        .flexibleTimeWindow(flexible -> flexible.mode(FlexibleTimeWindowMode.OFF))
        .actionAfterCompletion(ActionAfterCompletion.DELETE)
        .target(
            target ->
                target
                    .arn(destination.targetArn())
                    .roleArn(destination.roleArn())
                    .input(
                        """
                        {"windowsOf":"%s","scheduledTime":"<aws.scheduler.scheduled-time>"}"""
                            .formatted(owner))
                    .retryPolicy(
                        retry ->
                            retry
                                .maximumRetryAttempts(RETRIES)
                                .maximumEventAgeInSeconds((int) LATEST.toSeconds()))
                    .deadLetterConfig(dead -> dead.arn(destination.deadLetterArn())))
        .build();
  }

  @Override
  public void delete(Subject owner, LimitSchedule window) {
    ends(owner, window)
        .forEach(
            end ->
                askUnless(
                    "Scheduler DeleteSchedule of " + end.name(),
                    ResourceNotFoundException.class,
                    () ->
                        scheduler.deleteSchedule(
                            request -> request.groupName(destination.group()).name(end.name()))));
  }

  @Override
  public List<String> missing(Subject owner, LimitSchedule window, Instant now) {
    return ends(owner, window, now)
        .filter(
            end ->
                askUnless(
                        "Scheduler GetSchedule of " + end.name(),
                        ResourceNotFoundException.class,
                        () ->
                            scheduler.getSchedule(
                                request -> request.groupName(destination.group()).name(end.name())))
                    .isEmpty())
        .map(end -> end.local() + " " + end.timezoneName())
        .toList();
  }
}

package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.provisioning.FillSchedules;
import java.time.Duration;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ConflictException;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindow;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindowMode;
import software.amazon.awssdk.services.scheduler.model.ResourceNotFoundException;
import software.amazon.awssdk.services.scheduler.model.ScheduleState;
import software.amazon.awssdk.services.scheduler.model.Target;

/**
 * A schedule of EventBridge Scheduler for every bucket, in one group.
 *
 * <p>It is a {@code cron} one: a {@code rate} one would fire at every creation and start its phase
 * anew. An update replaces the whole schedule, and what is left out falls back to its default, so
 * an update says all that a creation says.
 *
 * <p>The SDK makes a client token for each call and repeats it when it repeats the call. One that
 * was the same for the same schedule could let Scheduler take a creation after a deletion for a
 * repetition.
 */
final class EventBridgeFillSchedules implements FillSchedules {
  private static final String EVERY_MINUTE = "cron(* * * * ? *)";
  private static final FlexibleTimeWindow ON_TIME =
      FlexibleTimeWindow.builder().mode(FlexibleTimeWindowMode.OFF).build();

  /** A fill that comes later than the next one has nothing left to do. */
  private static final Duration LATEST = Duration.ofSeconds(60);

  private static final int RETRIES = 2;

  private final SchedulerClient scheduler;
  private final Names names;
  private final TenantCredentials credentials;
  private final Destination destination;

  EventBridgeFillSchedules(
      SchedulerClient scheduler,
      Names names,
      TenantCredentials credentials,
      Destination destination) {
    this.scheduler = scheduler;
    this.names = names;
    this.credentials = credentials;
    this.destination = destination;
  }

  @Override
  public void put(BucketId id, BucketSpec spec, boolean enabled) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    String name = names.schedule(id);
    String description =
        spec.rate().tokensPerMinute().toPlainString()
            + " tokens a minute, capacity "
            + spec.capacity();
    ScheduleState state = enabled ? ScheduleState.ENABLED : ScheduleState.DISABLED;
    Target target = target(id);
    ask(
        "Scheduler CreateSchedule of " + id,
        () -> {
          try {
            return scheduler.createSchedule(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .groupName(destination.group())
                        .name(name)
                        .description(description)
                        .scheduleExpression(EVERY_MINUTE)
                        .flexibleTimeWindow(ON_TIME)
                        .state(state)
                        .target(target));
          } catch (ConflictException stands) {
            return scheduler.updateSchedule(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .groupName(destination.group())
                        .name(name)
                        .description(description)
                        .scheduleExpression(EVERY_MINUTE)
                        .flexibleTimeWindow(ON_TIME)
                        .state(state)
                        .target(target));
          }
        });
  }

  private Target target(BucketId id) {
    String input =
        """
        {"tenantId":"%s","action":"%s","scheduledTime":"<aws.scheduler.scheduled-time>"}"""
            .formatted(id.tenant(), id.action());
    return Target.builder()
        .arn(destination.targetArn())
        .roleArn(destination.roleArn())
        .input(input)
        .retryPolicy(
            retry ->
                retry
                    .maximumRetryAttempts(RETRIES)
                    .maximumEventAgeInSeconds((int) LATEST.toSeconds()))
        .deadLetterConfig(dead -> dead.arn(destination.deadLetterArn()))
        .build();
  }

  @Override
  public void delete(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    ask(
        "Scheduler DeleteSchedule of " + id,
        () -> {
          try {
            return scheduler.deleteSchedule(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .groupName(destination.group())
                        .name(names.schedule(id)));
          } catch (ResourceNotFoundException none) {
            return none;
          }
        });
  }

  /**
   * Where schedules live and what they do.
   *
   * @param group the group of this deployment's schedules
   * @param targetArn the function that fills buckets
   * @param roleArn what Scheduler becomes to invoke it
   * @param deadLetterArn the queue for what could not be delivered
   */
  record Destination(String group, String targetArn, String roleArn, String deadLetterArn) {}
}

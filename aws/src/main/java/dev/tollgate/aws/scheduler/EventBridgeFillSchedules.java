package dev.tollgate.aws.scheduler;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.sqs.QueueUrls;
import dev.tollgate.core.Page;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Refill;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.provisioning.Drift;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ConflictException;
import software.amazon.awssdk.services.scheduler.model.CreateScheduleRequest;
import software.amazon.awssdk.services.scheduler.model.DeleteScheduleRequest;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindow;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindowMode;
import software.amazon.awssdk.services.scheduler.model.GetScheduleRequest;
import software.amazon.awssdk.services.scheduler.model.GetScheduleResponse;
import software.amazon.awssdk.services.scheduler.model.ListSchedulesResponse;
import software.amazon.awssdk.services.scheduler.model.ResourceNotFoundException;
import software.amazon.awssdk.services.scheduler.model.ScheduleState;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.scheduler.model.Target;

/**
 * One EventBridge schedule for every bucket and for every shard, all in one group.
 *
 * <p>Schedules use {@code cron}, because a {@code rate} schedule fires when it is created and
 * starts a new phase. An update sets each member that it omits to its default value, so an update
 * sends all members, as a creation does.
 *
 * <p>The SDK generates a client token for each call and keeps it when it retries. A fixed token for
 * each schedule could make Scheduler ignore a creation that follows a deletion.
 */
public final class EventBridgeFillSchedules implements FillSchedules {
  private static final String EVERY_MINUTE = "cron(* * * * ? *)";
  private static final String UTC = "UTC";
  private static final FlexibleTimeWindow ON_TIME =
      FlexibleTimeWindow.builder().mode(FlexibleTimeWindowMode.OFF).build();

  /** A fill that is later than the next one is useless. */
  private static final Duration LATEST = Duration.ofSeconds(60);

  private static final int RETRIES = 2;

  /** The next fill of a calendar is days away, so a fill is useful for an hour. */
  private static final Duration RARE_LATEST = Duration.ofHours(1);

  private static final int RARE_RETRIES = 60;

  /** No retries: a batch whose response was lost may have been sent, and must not be sent twice. */
  private static final int DIRECT_RETRIES = 0;

  private final SchedulerClient scheduler;
  private final QueueUrls urls;
  private final TenantCredentials credentials;
  private final Destination destination;

  /** Schedules with this destination. */
  public EventBridgeFillSchedules(
      SchedulerClient scheduler,
      QueueUrls urls,
      TenantCredentials credentials,
      Destination destination) {
    this.scheduler = scheduler;
    this.urls = urls;
    this.credentials = credentials;
    this.destination = destination;
  }

  @Override
  public void put(Bucket bucket) {
    BucketId id = bucket.id();
    if (bucket.spec().fillPolicy().mode() == FillMode.SHARED) {
      delete(id);
      return;
    }
    CreateScheduleRequest wanted = wanted(bucket);
    ask(
        "Scheduler CreateSchedule of " + id,
        () -> {
          try {
            return scheduler.createSchedule(wanted);
          } catch (ConflictException exists) {
            return scheduler.updateSchedule(
                request ->
                    request
                        .overrideConfiguration(wanted.overrideConfiguration().orElseThrow())
                        .groupName(wanted.groupName())
                        .name(wanted.name())
                        .description(wanted.description())
                        .scheduleExpression(wanted.scheduleExpression())
                        .scheduleExpressionTimezone(wanted.scheduleExpressionTimezone())
                        .flexibleTimeWindow(wanted.flexibleTimeWindow())
                        .state(wanted.state())
                        .target(wanted.target()));
          }
        });
  }

  private CreateScheduleRequest wanted(Bucket bucket) {
    FillState.State state = bucket.fillState().state();
    boolean fires = state == FillState.State.PRODUCED || state == FillState.State.DIRECT;
    return CreateScheduleRequest.builder()
        .overrideConfiguration(credentials.as(bucket.id().tenant()))
        .groupName(destination.group())
        .name(urls.names().schedule(bucket.id()))
        .description(description(bucket.spec()))
        .scheduleExpression(expression(bucket.spec().refill()))
        .scheduleExpressionTimezone(timezone(bucket.spec().refill()))
        .flexibleTimeWindow(ON_TIME)
        .state(fires ? ScheduleState.ENABLED : ScheduleState.DISABLED)
        .target(state == FillState.State.DIRECT ? directTarget(bucket) : producerTarget(bucket))
        .build();
  }

  private static String description(BucketSpec spec) {
    return spec.refill() instanceof Rate rate
        ? rate.tokensPerMinute().toPlainString() + " tokens a minute, capacity " + spec.capacity()
        : spec.capacity() + " tokens " + spec.refill();
  }

  /**
   * When a bucket is filled. EventBridge does not fire at a time that does not exist on a day, and
   * fires once at one that exists twice.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time">Daylight
   *     savings time on EventBridge Scheduler</a>
   */
  private static String expression(Refill refill) {
    if (!(refill instanceof Calendar calendar)) {
      return EVERY_MINUTE;
    }
    String day = calendar.day().map(first -> "? * " + first.name().substring(0, 3)).orElse("* * ?");
    return "cron(%d %d %s *)".formatted(calendar.at().getMinute(), calendar.at().getHour(), day);
  }

  private static String timezone(Refill refill) {
    return refill instanceof Calendar calendar ? calendar.zone().getId() : UTC;
  }

  private Target producerTarget(Bucket bucket) {
    BucketId id = bucket.id();
    boolean isRare = bucket.spec().refill() instanceof Calendar;
    return target(
        destination.targetArn(),
        isRare ? RARE_RETRIES : RETRIES,
        isRare ? RARE_LATEST : LATEST,
        """
        {"tenantId":"%s","action":"%s","scheduledTime":"<aws.scheduler.scheduled-time>"}"""
            .formatted(id.tenant(), id.action()));
  }

  private Target directTarget(Bucket bucket) {
    String body =
        """
        {\\"tenant\\":\\"%s\\",\\"action\\":\\"%s\\",\\"mintedAt\\":\\"<aws.scheduler.scheduled-time>\\"}"""
            .formatted(bucket.id().tenant(), bucket.id().action());
    String entries =
        LongStream.range(0, bucket.spec().rate().ceiling())
            .mapToObj(
                i ->
                    """
                    {"Id":"%d","MessageBody":"%s"}"""
                        .formatted(i, body))
            .collect(Collectors.joining(","));
    return target(
        sendMessageBatch(),
        DIRECT_RETRIES,
        LATEST,
        """
        {"QueueUrl":"%s","Entries":[%s]}"""
            .formatted(urls.of(bucket.id()), entries));
  }

  /**
   * The target of a schedule that calls the SQS API without a function, in the partition of the
   * schedules' role.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html">Using
   *     universal targets</a>
   */
  private String sendMessageBatch() {
    String partition = destination.roleArn().split(":", 3)[1];
    return "arn:" + partition + ":scheduler:::aws-sdk:sqs:sendMessageBatch";
  }

  private Target target(String arn, int retries, Duration latest, String input) {
    return Target.builder()
        .arn(arn)
        .roleArn(destination.roleArn())
        .input(input)
        .retryPolicy(
            retry ->
                retry
                    .maximumRetryAttempts(retries)
                    .maximumEventAgeInSeconds((int) latest.toSeconds()))
        .deadLetterConfig(dead -> dead.arn(destination.deadLetterArn()))
        .build();
  }

  /** {@inheritDoc} Uses the function's own role, because a shard has many tenants. */
  @Override
  public void put(Shard shard) {
    askUnless(
        "Scheduler CreateSchedule of " + shard,
        ConflictException.class,
        () -> scheduler.createSchedule(wanted(shard)));
  }

  private CreateScheduleRequest wanted(Shard shard) {
    return CreateScheduleRequest.builder()
        .groupName(destination.group())
        .name(urls.names().schedule(shard))
        .description("fills and inspects buckets of many tenants")
        .scheduleExpression(EVERY_MINUTE)
        .scheduleExpressionTimezone(UTC)
        .flexibleTimeWindow(ON_TIME)
        .state(ScheduleState.ENABLED)
        .target(
            target(
                destination.targetArn(),
                RETRIES,
                LATEST,
                """
                {"shard":"%s","scheduledTime":"<aws.scheduler.scheduled-time>"}"""
                    .formatted(shard)))
        .build();
  }

  @Override
  public void delete(BucketId id) {
    delete(
        DeleteScheduleRequest.builder()
            .overrideConfiguration(credentials.as(id.tenant()))
            .groupName(destination.group())
            .name(urls.names().schedule(id))
            .build());
  }

  /** {@inheritDoc} Uses the function's own role, like {@link #put(Shard)}. */
  @Override
  public void delete(Shard shard) {
    delete(
        DeleteScheduleRequest.builder()
            .groupName(destination.group())
            .name(urls.names().schedule(shard))
            .build());
  }

  private void delete(DeleteScheduleRequest request) {
    askUnless(
        "Scheduler DeleteSchedule of " + request.name(),
        ResourceNotFoundException.class,
        () -> scheduler.deleteSchedule(request));
  }

  @Override
  public Drift compare(Bucket bucket) {
    Optional<GetScheduleResponse> current = find(bucket.id());
    if (bucket.spec().fillPolicy().mode() == FillMode.SHARED) {
      String filler = Shard.of(bucket.id().tenant()).toString();
      return Drift.of(
          current.isPresent()
              ? List.of("a schedule (expected: none, because " + filler + " fills the bucket)")
              : List.of());
    }
    return compare(current, wanted(bucket));
  }

  /** {@inheritDoc} Uses the function's own role, like {@link #put(Shard)}. */
  @Override
  public Drift compare(Shard shard) {
    CreateScheduleRequest wanted = wanted(shard);
    return compare(
        find(
            GetScheduleRequest.builder().groupName(wanted.groupName()).name(wanted.name()).build()),
        wanted);
  }

  @Override
  public boolean has(BucketId id) {
    return find(id).isPresent();
  }

  private Optional<GetScheduleResponse> find(BucketId id) {
    return find(
        GetScheduleRequest.builder()
            .overrideConfiguration(credentials.as(id.tenant()))
            .groupName(destination.group())
            .name(urls.names().schedule(id))
            .build());
  }

  private Optional<GetScheduleResponse> find(GetScheduleRequest request) {
    return askUnless(
        "Scheduler GetSchedule of " + request.name(),
        ResourceNotFoundException.class,
        () -> scheduler.getSchedule(request));
  }

  private static Drift compare(
      Optional<GetScheduleResponse> current, CreateScheduleRequest wanted) {
    return current
        .map(found -> Drift.of(ScheduleDifferences.between(found, wanted)))
        .orElseGet(Drift.Missing::new);
  }

  /** {@inheritDoc} Uses the function's own role, because the list spans tenants. */
  @Override
  public Page<BucketId> list(Optional<String> cursor, int max) {
    String prefix = urls.names().prefix();
    ListSchedulesResponse part =
        ask(
            "Scheduler ListSchedules",
            () ->
                scheduler.listSchedules(
                    request -> {
                      request.groupName(destination.group()).maxResults(max);
                      cursor.ifPresent(request::nextToken);
                      if (!prefix.isEmpty()) {
                        request.namePrefix(prefix);
                      }
                    }));
    List<BucketId> buckets =
        part.schedules().stream()
            .map(ScheduleSummary::name)
            .map(urls.names()::findBucketBySchedule)
            .flatMap(Optional::stream)
            .toList();
    return new Page<>(buckets, Optional.ofNullable(part.nextToken()));
  }

  /**
   * The group and the target of schedules.
   *
   * @param group the group of this deployment's schedules
   * @param targetArn the function that fills buckets
   * @param roleArn the role that Scheduler assumes to invoke the function or to send tokens
   * @param deadLetterArn the queue for events that could not be delivered
   */
  public record Destination(String group, String targetArn, String roleArn, String deadLetterArn) {}
}

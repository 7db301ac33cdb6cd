package dev.tollgate.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ActionAfterCompletion;
import software.amazon.awssdk.services.scheduler.model.ConflictException;
import software.amazon.awssdk.services.scheduler.model.CreateScheduleRequest;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindowMode;
import software.amazon.awssdk.services.scheduler.model.GetScheduleResponse;
import software.amazon.awssdk.services.scheduler.model.ResourceNotFoundException;
import software.amazon.awssdk.services.scheduler.model.ScheduleGroupState;
import software.amazon.awssdk.services.scheduler.model.ScheduleGroupSummary;
import software.amazon.awssdk.services.scheduler.model.ScheduleState;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.scheduler.model.SchedulerException;
import software.amazon.awssdk.services.scheduler.model.Tag;
import software.amazon.awssdk.services.scheduler.model.Target;
import software.amazon.awssdk.services.scheduler.model.ValidationException;

/** The API as the SDK's client sees it. */
@Timeout(60)
class SchedulerApiTest {
  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00.250Z");
  private static final Target TARGET =
      Target.builder().arn(Requests.QUEUE).roleArn(Requests.ROLE).input("body").build();

  private final ManualClock clock = new ManualClock(NOON);
  private final RecordingTargets targets = new RecordingTargets();
  private final Scheduler scheduler =
      Schedulers.started(
          clock,
          targets,
          group -> Duration.ofSeconds(group.equals("slow") ? 20 : 0),
          Optional.empty());
  private final AccessKeys accessKeys = new AccessKeys();
  private final Endpoint endpoint =
      new Endpoint(
          accessKeys, Authorization.NONE, new RecordedRequests(), handler -> handler, clock);
  private final SchedulerClient client = connect();

  @AfterEach
  void close() {
    client.close();
    endpoint.close();
    scheduler.close();
  }

  @Test
  void create_then_get_answers_what_was_asked_and_the_defaults() {
    String arn = create("a", request -> {});
    assertThat(arn).isEqualTo("arn:aws:scheduler:us-east-1:000000000000:schedule/default/a");
    GetScheduleResponse schedule = client.getSchedule(r -> r.name("a"));
    assertThat(schedule.arn()).isEqualTo(arn);
    assertThat(schedule.name()).isEqualTo("a");
    assertThat(schedule.groupName()).isEqualTo("default");
    assertThat(schedule.creationDate()).isEqualTo(NOON);
    assertThat(schedule.lastModificationDate()).isEqualTo(NOON);
    assertThat(schedule.scheduleExpression()).isEqualTo("cron(* * * * ? *)");
    assertThat(schedule.scheduleExpressionTimezone()).isEqualTo("UTC");
    assertThat(schedule.state()).isEqualTo(ScheduleState.ENABLED);
    assertThat(schedule.actionAfterCompletion()).isEqualTo(ActionAfterCompletion.NONE);
    assertThat(schedule.flexibleTimeWindow().mode()).isEqualTo(FlexibleTimeWindowMode.OFF);
    assertThat(schedule.description()).isNull();
    assertThat(schedule.target())
        .isEqualTo(
            TARGET.toBuilder()
                .retryPolicy(p -> p.maximumEventAgeInSeconds(86_400).maximumRetryAttempts(185))
                .build());
  }

  @Test
  void a_role_that_the_service_cannot_assume_is_refused() {
    create("stands", request -> {});
    targets.refusal = Optional.of("cannot assume");
    String message =
        "cannot assume "
            + Requests.ROLE
            + " for arn:aws:scheduler:us-east-1:000000000000:schedule-group/default";

    assertThatThrownBy(() -> create("a", request -> {}))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining(message);
    assertThatThrownBy(
            () ->
                client.updateSchedule(
                    r ->
                        r.name("stands")
                            .scheduleExpression("rate(1 hour)")
                            .flexibleTimeWindow(w -> w.mode(FlexibleTimeWindowMode.OFF))
                            .target(TARGET)))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining(message);
    assertThat(client.getSchedule(r -> r.name("stands")).scheduleExpression())
        .isEqualTo("cron(* * * * ? *)");
    assertThatThrownBy(() -> client.getSchedule(r -> r.name("a")))
        .isInstanceOf(SchedulerException.class);
  }

  @Test
  void every_member_survives() {
    client.createScheduleGroup(r -> r.name("g"));
    Target target =
        Target.builder()
            .arn(Requests.QUEUE + ".fifo")
            .roleArn(Requests.ROLE)
            .sqsParameters(p -> p.messageGroupId("group"))
            .deadLetterConfig(d -> d.arn(Requests.DEAD_LETTERS))
            .retryPolicy(p -> p.maximumEventAgeInSeconds(60).maximumRetryAttempts(0))
            .build();
    create(
        "a",
        request ->
            request
                .groupName("g")
                .description("what for")
                .scheduleExpression("rate(2 hours)")
                .scheduleExpressionTimezone("Europe/Berlin")
                .startDate(NOON.plusSeconds(60))
                .endDate(NOON.plusSeconds(86_400))
                .state(ScheduleState.DISABLED)
                .actionAfterCompletion(ActionAfterCompletion.DELETE)
                .kmsKeyArn("arn:aws:kms:us-east-1:000000000000:key/k-1")
                .flexibleTimeWindow(
                    w -> w.mode(FlexibleTimeWindowMode.FLEXIBLE).maximumWindowInMinutes(15))
                .target(target));
    GetScheduleResponse schedule = client.getSchedule(r -> r.groupName("g").name("a"));
    assertThat(schedule.description()).isEqualTo("what for");
    assertThat(schedule.scheduleExpression()).isEqualTo("rate(2 hours)");
    assertThat(schedule.scheduleExpressionTimezone()).isEqualTo("Europe/Berlin");
    assertThat(schedule.startDate()).isEqualTo(NOON.plusSeconds(60));
    assertThat(schedule.endDate()).isEqualTo(NOON.plusSeconds(86_400));
    assertThat(schedule.state()).isEqualTo(ScheduleState.DISABLED);
    assertThat(schedule.actionAfterCompletion()).isEqualTo(ActionAfterCompletion.DELETE);
    assertThat(schedule.kmsKeyArn()).isEqualTo("arn:aws:kms:us-east-1:000000000000:key/k-1");
    assertThat(schedule.flexibleTimeWindow().maximumWindowInMinutes()).isEqualTo(15);
    assertThat(schedule.target()).isEqualTo(target);
  }

  @Test
  void update_replaces_everything() {
    create(
        "a",
        request ->
            request
                .description("what for")
                .scheduleExpressionTimezone("Europe/Berlin")
                .endDate(NOON.plusSeconds(86_400))
                .state(ScheduleState.DISABLED)
                .actionAfterCompletion(ActionAfterCompletion.DELETE)
                .target(
                    t ->
                        t.arn(Requests.QUEUE)
                            .roleArn(Requests.ROLE)
                            .input("before")
                            .deadLetterConfig(d -> d.arn(Requests.DEAD_LETTERS))
                            .retryPolicy(p -> p.maximumRetryAttempts(1))));
    clock.advance(Duration.ofMinutes(1));
    client.updateSchedule(
        r ->
            r.name("a")
                .scheduleExpression("rate(1 day)")
                .flexibleTimeWindow(w -> w.mode("OFF"))
                .target(TARGET));
    GetScheduleResponse schedule = client.getSchedule(r -> r.name("a"));
    assertThat(schedule.description()).isNull();
    assertThat(schedule.scheduleExpression()).isEqualTo("rate(1 day)");
    assertThat(schedule.scheduleExpressionTimezone()).isEqualTo("UTC");
    assertThat(schedule.endDate()).isNull();
    assertThat(schedule.state()).isEqualTo(ScheduleState.ENABLED);
    assertThat(schedule.actionAfterCompletion()).isEqualTo(ActionAfterCompletion.NONE);
    assertThat(schedule.target().deadLetterConfig()).isNull();
    assertThat(schedule.target().retryPolicy().maximumRetryAttempts()).isEqualTo(185);
    assertThat(schedule.target().input()).isEqualTo("body");
    assertThat(schedule.creationDate()).isEqualTo(NOON);
    assertThat(schedule.lastModificationDate()).isEqualTo(NOON.plusSeconds(60));
  }

  @Test
  void update_without_group_looks_in_the_default_group() {
    client.createScheduleGroup(r -> r.name("g"));
    create("a", request -> request.groupName("g"));
    assertThatThrownBy(
            () ->
                client.updateSchedule(
                    r ->
                        r.name("a")
                            .scheduleExpression("rate(1 day)")
                            .flexibleTimeWindow(w -> w.mode("OFF"))
                            .target(TARGET)))
        .isInstanceOf(ResourceNotFoundException.class)
        .hasMessageContaining("Schedule a does not exist.");
  }

  @Test
  void create_of_an_existing_schedule_conflicts_unless_it_is_the_same_request() {
    create("a", request -> request.clientToken("token"));
    clock.advance(Duration.ofMinutes(1));
    create("a", request -> request.clientToken("token"));
    assertThat(client.getSchedule(r -> r.name("a")).creationDate()).isEqualTo(NOON);
    assertThatThrownBy(() -> create("a", request -> {}))
        .isInstanceOf(ConflictException.class)
        .hasMessageContaining("Schedule a already exists.")
        .extracting(e -> ((SchedulerException) e).statusCode())
        .isEqualTo(409);
    assertThatThrownBy(
            () -> create("a", request -> request.clientToken("token").description("other")))
        .isInstanceOf(ConflictException.class);
  }

  @Test
  void create_in_an_unknown_group_is_not_found() {
    assertThatThrownBy(() -> create("a", request -> request.groupName("nowhere")))
        .isInstanceOf(ResourceNotFoundException.class)
        .hasMessageContaining("Schedule group nowhere does not exist.");
  }

  @Test
  void delete_removes_and_may_be_repeated_with_its_token() {
    create("a", request -> {});
    client.deleteSchedule(r -> r.name("a").clientToken("token"));
    client.deleteSchedule(r -> r.name("a").clientToken("token"));
    assertThatThrownBy(() -> client.deleteSchedule(r -> r.name("a")))
        .isInstanceOf(ResourceNotFoundException.class);
    assertThatThrownBy(() -> client.getSchedule(r -> r.name("a")))
        .isInstanceOf(ResourceNotFoundException.class);
  }

  @Test
  void create_with_the_token_of_a_deleted_schedule_creates_it_again() {
    create("a", request -> request.clientToken("token"));
    client.deleteSchedule(r -> r.name("a").clientToken("token"));
    create("a", request -> request.clientToken("token"));
    client.deleteSchedule(r -> r.name("a").clientToken("token"));
    assertThat(client.listSchedules(r -> {}).schedules()).isEmpty();
  }

  @Test
  void list_filters_and_pages() {
    client.createScheduleGroup(r -> r.name("g"));
    IntStream.range(0, 7).forEach(i -> create("in-g-" + i, request -> request.groupName("g")));
    create("other", request -> request.state(ScheduleState.DISABLED));
    assertThat(client.listSchedules(r -> {}).schedules()).hasSize(8);
    assertThat(client.listSchedules(r -> r.state(ScheduleState.DISABLED)).schedules())
        .extracting(ScheduleSummary::name)
        .containsExactly("other");
    assertThat(client.listSchedules(r -> r.namePrefix("in-g-6")).schedules()).hasSize(1);
    assertThat(client.listSchedules(r -> r.groupName("default")).schedules()).hasSize(1);
    var first = client.listSchedules(r -> r.groupName("g").maxResults(3));
    assertThat(first.schedules()).hasSize(3);
    assertThat(first.nextToken()).isNotNull();
    List<String> all =
        client.listSchedulesPaginator(r -> r.groupName("g").maxResults(3)).schedules().stream()
            .map(ScheduleSummary::name)
            .toList();
    assertThat(all).hasSize(7).doesNotHaveDuplicates().isSorted();
    assertThatThrownBy(() -> client.listSchedules(r -> r.groupName("nowhere")))
        .isInstanceOf(ResourceNotFoundException.class);
    assertThatThrownBy(() -> client.listSchedules(r -> r.maxResults(101)))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining("less than or equal to 100");
    assertThatThrownBy(() -> client.listSchedules(r -> r.nextToken("?")))
        .isInstanceOf(ValidationException.class);
  }

  @Test
  void pages_go_across_groups_whose_names_begin_alike() {
    for (String group : List.of("a", "a-b", "a.b", "a0")) {
      client.createScheduleGroup(r -> r.name(group));
      create("x", request -> request.groupName(group));
      create("y", request -> request.groupName(group));
    }
    assertThat(client.listSchedulesPaginator(r -> r.maxResults(1)).schedules().stream())
        .extracting(ScheduleSummary::arn)
        .hasSize(8)
        .doesNotHaveDuplicates();
  }

  @Test
  void summary_has_the_target() {
    create("a", request -> {});
    ScheduleSummary summary = client.listSchedules(r -> {}).schedules().get(0);
    assertThat(summary.arn()).endsWith(":schedule/default/a");
    assertThat(summary.groupName()).isEqualTo("default");
    assertThat(summary.state()).isEqualTo(ScheduleState.ENABLED);
    assertThat(summary.creationDate()).isEqualTo(NOON);
    assertThat(summary.target().arn()).isEqualTo(Requests.QUEUE);
  }

  @Test
  void group_lives_and_dies_with_its_schedules() throws Exception {
    String arn = client.createScheduleGroup(r -> r.name("g")).scheduleGroupArn();
    assertThat(arn).isEqualTo("arn:aws:scheduler:us-east-1:000000000000:schedule-group/g");
    var group = client.getScheduleGroup(r -> r.name("g"));
    assertThat(group.arn()).isEqualTo(arn);
    assertThat(group.state()).isEqualTo(ScheduleGroupState.ACTIVE);
    assertThat(group.creationDate()).isEqualTo(NOON);
    create("a", request -> request.groupName("g"));
    create("a", request -> {});
    client.deleteScheduleGroup(r -> r.name("g"));
    assertThatThrownBy(() -> client.getScheduleGroup(r -> r.name("g")))
        .isInstanceOf(ResourceNotFoundException.class)
        .hasMessageContaining("Schedule group g does not exist.");
    assertThat(client.listSchedules(r -> {}).schedules())
        .extracting(ScheduleSummary::groupName)
        .containsExactly("default");
    clock.advance(Duration.ofMinutes(1));
    scheduler.settle();
    assertThat(targets.calls).hasSize(1);
  }

  @Test
  void group_that_is_being_deleted_refuses_all_changes_until_it_is_gone() throws Exception {
    client.createScheduleGroup(r -> r.name("slow"));
    create("a", request -> request.groupName("slow"));
    clock.advance(Duration.ofSeconds(50)); // so that it would fire soon
    client.deleteScheduleGroup(r -> r.name("slow").clientToken("token"));
    client.deleteScheduleGroup(r -> r.name("slow").clientToken("token"));

    var group = client.getScheduleGroup(r -> r.name("slow"));
    assertThat(group.state()).isEqualTo(ScheduleGroupState.DELETING);
    assertThat(client.listSchedules(r -> r.groupName("slow")).schedules()).hasSize(1);
    for (ThrowingCallable change :
        List.<ThrowingCallable>of(
            () -> create("b", request -> request.groupName("slow")),
            () ->
                client.updateSchedule(
                    r ->
                        r.name("a")
                            .groupName("slow")
                            .scheduleExpression("rate(1 day)")
                            .flexibleTimeWindow(w -> w.mode("OFF"))
                            .target(TARGET)),
            () -> client.createScheduleGroup(r -> r.name("slow")),
            () -> client.deleteScheduleGroup(r -> r.name("slow")),
            () -> client.tagResource(r -> r.resourceArn(group.arn()).tags(tag("a", "1"))))) {
      assertThatThrownBy(change)
          .isInstanceOf(ConflictException.class)
          .hasMessageContaining("Schedule group slow is being deleted.");
    }
    clock.advance(Duration.ofSeconds(19));
    scheduler.settle();
    assertThat(targets.calls).isEmpty();
    assertThat(client.getScheduleGroup(r -> r.name("slow")).state())
        .isEqualTo(ScheduleGroupState.DELETING);

    clock.advance(Duration.ofSeconds(1));
    assertThatThrownBy(() -> client.getScheduleGroup(r -> r.name("slow")))
        .isInstanceOf(ResourceNotFoundException.class);
    client.createScheduleGroup(r -> r.name("slow"));
    assertThat(client.listSchedules(r -> r.groupName("slow")).schedules()).isEmpty();
  }

  @Test
  void default_group_exists_and_stays() {
    assertThat(client.listScheduleGroups(r -> {}).scheduleGroups())
        .extracting(ScheduleGroupSummary::name)
        .containsExactly("default");
    assertThatThrownBy(() -> client.deleteScheduleGroup(r -> r.name("default")))
        .isInstanceOf(ValidationException.class);
  }

  @Test
  void create_group_twice_conflicts_unless_it_is_the_same_request() {
    client.createScheduleGroup(r -> r.name("g").clientToken("token"));
    client.createScheduleGroup(r -> r.name("g").clientToken("token"));
    assertThatThrownBy(() -> client.createScheduleGroup(r -> r.name("g")))
        .isInstanceOf(ConflictException.class)
        .hasMessageContaining("Schedule group g already exists.");
  }

  @Test
  void groups_are_listed_by_prefix_and_page() {
    IntStream.range(0, 5).forEach(i -> client.createScheduleGroup(r -> r.name("g" + i)));
    assertThat(client.listScheduleGroups(r -> r.namePrefix("g")).scheduleGroups()).hasSize(5);
    assertThat(
            client.listScheduleGroupsPaginator(r -> r.maxResults(2)).scheduleGroups().stream()
                .map(ScheduleGroupSummary::name))
        .containsExactly("default", "g0", "g1", "g2", "g3", "g4");
  }

  @Test
  void tags_are_kept_on_groups() {
    String arn =
        client
            .createScheduleGroup(r -> r.name("g").tags(tag("a", "1"), tag("b", "2")))
            .scheduleGroupArn();
    client.tagResource(r -> r.resourceArn(arn).tags(tag("b", "3"), tag("c", "4")));
    assertThat(client.listTagsForResource(r -> r.resourceArn(arn)).tags())
        .containsExactly(tag("a", "1"), tag("b", "3"), tag("c", "4"));
    client.untagResource(r -> r.resourceArn(arn).tagKeys("a", "c"));
    assertThat(client.listTagsForResource(r -> r.resourceArn(arn)).tags())
        .containsExactly(tag("b", "3"));
    assertThatThrownBy(
            () ->
                client.listTagsForResource(
                    r ->
                        r.resourceArn(
                            "arn:aws:scheduler:us-east-1:000000000000:schedule/default/a")))
        .isInstanceOf(ValidationException.class);
    assertThatThrownBy(() -> client.listTagsForResource(r -> r.resourceArn(arn + "x")))
        .isInstanceOf(ResourceNotFoundException.class);
  }

  @Test
  void validation_is_raised_as_the_modelled_exception() {
    assertThatThrownBy(() -> create("a", request -> request.scheduleExpression("rate(0 minutes)")))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining("Invalid Schedule Expression rate(0 minutes).")
        .extracting(e -> ((SchedulerException) e).statusCode())
        .isEqualTo(400);
    assertThatThrownBy(() -> create("not/a name", request -> {}))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining("at 'name' failed to satisfy constraint");
    assertThatThrownBy(() -> create("a", request -> request.clientToken("not a token")))
        .isInstanceOf(ValidationException.class)
        .hasMessageContaining("at 'clientToken'");
  }

  private String create(String name, Consumer<CreateScheduleRequest.Builder> change) {
    CreateScheduleRequest.Builder request =
        CreateScheduleRequest.builder()
            .name(name)
            .scheduleExpression("cron(* * * * ? *)")
            .flexibleTimeWindow(w -> w.mode(FlexibleTimeWindowMode.OFF))
            .target(TARGET);
    change.accept(request);
    return client.createSchedule(request.build()).scheduleArn();
  }

  private static Tag tag(String key, String value) {
    return Tag.builder().key(key).value(value).build();
  }

  private SchedulerClient connect() {
    endpoint.serve("scheduler", scheduler.http());
    AccessKey key = accessKeys.issue(Principal.of("test", "arn:aws:iam::000000000000:role/test"));
    return SchedulerClient.builder()
        .endpointOverride(endpoint.endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsSessionCredentials.create(
                    key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
        .build();
  }
}

package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.GetScheduleResponse;
import software.amazon.awssdk.services.scheduler.model.ScheduleState;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.scheduler.model.UpdateScheduleRequest;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** The doctor finds and repairs what was deleted, edited or created with the AWS SDK. */
final class DoctorIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final SqsClient SQS = DEPLOYMENT.inspect(SqsClient.builder());
  private static final SchedulerClient SCHEDULER = DEPLOYMENT.inspect(SchedulerClient.builder());
  private static final String FILLED =
      """
      {"isolation":"POOL","fillMode":"%s","limits":{"tenantPerMinute":6,"sessionPerMinute":5,
       "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,"messagesPerMinute":6}}""";

  @AfterAll
  static void close() {
    SQS.close();
    SCHEDULER.close();
  }

  private static List<JsonNode> repair() {
    return LocalDeployment.allFindings(
        query -> DEPLOYMENT.control("POST", "/repairs" + query, "{}").body().toString());
  }

  private static Set<String> drift() {
    return described(
        LocalDeployment.allFindings(
            query -> DEPLOYMENT.control("GET", "/drift" + query).body().toString()));
  }

  private static Set<String> described(Collection<JsonNode> findings) {
    return findings.stream()
        .map(
            finding ->
                finding.path("kind").asText()
                    + " "
                    + finding.path("resource").asText()
                    + " "
                    + finding.path("name").asText())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String queue(String name) {
    return SQS.getQueueUrl(r -> r.queueName(name + "_token_bucket")).queueUrl();
  }

  private static void edit(String name, UnaryOperator<UpdateScheduleRequest.Builder> change) {
    GetScheduleResponse current = SCHEDULER.getSchedule(r -> r.groupName(group()).name(name));
    SCHEDULER.updateSchedule(
        change
            .apply(
                UpdateScheduleRequest.builder()
                    .groupName(current.groupName())
                    .name(name)
                    .scheduleExpression(current.scheduleExpression())
                    .flexibleTimeWindow(current.flexibleTimeWindow())
                    .state(current.state())
                    .target(current.target()))
            .build());
  }

  private static String group() {
    return SCHEDULER.listSchedules(r -> r.namePrefix("sweep")).schedules().get(0).groupName();
  }

  private static long level(String tenant) {
    for (JsonNode bucket : DEPLOYMENT.control("GET", "/tenants/" + tenant).body().path("buckets")) {
      if (bucket.path("action").asText().equals("connect")) {
        return bucket.path("level").asLong();
      }
    }
    throw new AssertionError(tenant);
  }

  @Tag("nightly")
  @Test
  void manual_changes_are_found_and_repaired_and_buckets_fill_again() throws Exception {
    for (String mode : List.of("PRODUCER", "DIRECT", "SHARED")) {
      DEPLOYMENT.control(
          "PUT", "/tiers/" + mode.toLowerCase(java.util.Locale.ROOT), FILLED.formatted(mode));
    }
    for (String tenant : List.of("drained", "unscheduled", "stopped", "slowed", "untouched")) {
      assertThat(DEPLOYMENT.onboard(tenant, "producer", "{}").status()).isEqualTo(201);
    }
    assertThat(DEPLOYMENT.onboard("forgetful", "direct", "{}").status()).isEqualTo(201);
    assertThat(DEPLOYMENT.onboard("together", "shared", "{}").status()).isEqualTo(201);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(drift()).isEmpty();

    SQS.deleteQueue(r -> r.queueUrl(queue("connect_drained")));
    SCHEDULER.deleteSchedule(r -> r.groupName(group()).name("connect_unscheduled"));
    edit("connect_stopped", update -> update.state(ScheduleState.DISABLED));
    edit("message_slowed", update -> update.scheduleExpression("rate(5 minutes)"));
    edit(
        "connect_untouched",
        update -> update.target(update.build().target().toBuilder().input("{}").build()));
    SQS.setQueueAttributes(
        r ->
            r.queueUrl(queue("connect_forgetful"))
                .attributes(Map.of(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "3600")));
    String shard =
        SCHEDULER.listSchedules(r -> r.namePrefix("shard-")).schedules().stream()
            .map(ScheduleSummary::name)
            .sorted()
            .toList()
            .get(0);
    edit(shard, update -> update.state(ScheduleState.DISABLED));
    SQS.createQueue(
        r ->
            r.queueName("connect_ghost_token_bucket")
                .tags(Map.of("tollgate-deployment", "Tollgate")));
    SQS.createQueue(r -> r.queueName("connect_stranger_token_bucket"));
    SQS.createQueue(r -> r.queueName("somebody-elses_queue"));
    GetScheduleResponse model =
        SCHEDULER.getSchedule(r -> r.groupName(group()).name("message_stopped"));
    SCHEDULER.createSchedule(
        r ->
            r.groupName(model.groupName())
                .name("message_ghost")
                .scheduleExpression(model.scheduleExpression())
                .flexibleTimeWindow(model.flexibleTimeWindow())
                .target(model.target()));

    Set<String> expected =
        new TreeSet<>(
            Set.of(
                "MISSING queue connect_drained",
                "MISSING schedule connect_unscheduled",
                "DIFFERS schedule connect_stopped",
                "DIFFERS schedule message_slowed",
                "DIFFERS schedule connect_untouched",
                "DIFFERS queue connect_forgetful",
                "DIFFERS shard-schedule " + shard,
                "ORPHANED queue connect_ghost",
                "ORPHANED queue connect_stranger",
                "ORPHANED schedule message_ghost"));
    assertThat(drift()).isEqualTo(expected);
    List<JsonNode> repaired = repair();
    assertThat(described(repaired)).isEqualTo(expected);
    assertThat(repaired)
        .filteredOn(finding -> !finding.path("repaired").asBoolean())
        .extracting(finding -> finding.path("name").asText())
        .as("a deleted queue can be created again after a minute; a queue without the tag stays")
        .containsExactlyInAnyOrder("connect_drained", "connect_stranger");

    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(drift()).containsExactly("ORPHANED queue connect_stranger");
    SQS.deleteQueue(r -> r.queueUrl(queue("connect_stranger")));
    assertThat(drift()).isEmpty();
    assertThat(SQS.listQueues(r -> r.queueNamePrefix("somebody")).queueUrls()).hasSize(1);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    for (String tenant : List.of("drained", "unscheduled", "stopped", "untouched", "together")) {
      assertThat(level(tenant)).as(tenant).isEqualTo(6);
    }
    assertThat(drift()).isEmpty();
  }

  @Tag("nightly")
  @Test
  void a_connection_that_no_token_paid_for_is_found_and_stays() throws Exception {
    DEPLOYMENT.control("PUT", "/tiers/counted", FILLED.formatted("PRODUCER"));
    assertThat(DEPLOYMENT.onboard("counted", "counted", "{}").status()).isEqualTo(201);
    for (int i = 0; i < 4; i++) {
      String session = DEPLOYMENT.open("counted");
      DEPLOYMENT.close(DEPLOYMENT.connect("counted", session));
    }
    assertThat(drift()).isEmpty();
    DEPLOYMENT.advance(Duration.ofMinutes(4));
    assertThat(drift()).isEmpty();

    try (DynamoDbClient rows = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      rows.updateItem(
          r ->
              r.tableName("TablesLimit")
                  .key(
                      Map.of(
                          "tenantId", AttributeValue.fromS("counted"),
                          "key", AttributeValue.fromS("connections")))
                  .updateExpression("ADD admitted :one")
                  .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))));
    }
    assertThat(drift()).containsExactly("OVER_ADMITTED bucket connect_counted");
    assertThat(repair())
        .noneMatch(finding -> finding.path("repaired").asBoolean())
        .extracting(finding -> finding.path("detail").asText())
        .containsExactly(
            "5 connections admitted with a token, 4 tokens gone: 10 minted, 6 in the queue, 0 in"
                + " flight (expected: at least 5 tokens gone)");
    DEPLOYMENT.control("DELETE", "/tenants/counted");
  }
}

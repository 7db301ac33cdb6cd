package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.GetScheduleResponse;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** How buckets are filled, what fills cost, and how buckets hibernate and wake. */
final class FillModesIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final int RATE = 6;
  private static final int CAPACITY = 12;
  private static final SqsClient SQS = DEPLOYMENT.inspect(SqsClient.builder());
  private static final SchedulerClient SCHEDULER = DEPLOYMENT.inspect(SchedulerClient.builder());

  private final List<String> onboarded = new ArrayList<>();

  @BeforeAll
  static void tiers() {
    for (String mode : List.of("PRODUCER", "DIRECT", "SHARED")) {
      for (int hibernate : List.of(0, 3)) {
        DEPLOYMENT.control("PUT", "/tiers/" + tier(mode, hibernate), document(mode, hibernate));
      }
    }
  }

  @AfterAll
  static void close() {
    SQS.close();
    SCHEDULER.close();
  }

  // A tenant that stays costs requests, which the next test counts.
  @AfterEach
  void removeTenants() {
    onboarded.forEach(tenant -> DEPLOYMENT.control("DELETE", "/tenants/" + tenant));
  }

  private void onboard(String tenant, String tier) {
    onboarded.add(tenant);
    DEPLOYMENT.onboard(tenant, tier, "{}");
  }

  private static String tier(String mode, int hibernateAfter) {
    return mode.toLowerCase(Locale.ROOT) + "-" + hibernateAfter;
  }

  private static String document(String mode, int hibernateAfter) {
    return """
        {"isolation": "POOL", "fillMode": "%s", "hibernateAfterMinutes": %d,
         "buckets": {"connect": {"capacity": %d}, "message": {"capacity": %d}},
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 1000, "connectionsPerSession": 1000,
                    "tenantConnections": 1000, "sessionTTL": 86400, "messagesPerMinute": %d}}"""
        .formatted(mode, hibernateAfter, CAPACITY, CAPACITY, RATE, RATE);
  }

  private static void minutes(int minutes) throws InterruptedException {
    DEPLOYMENT.advance(Duration.ofMinutes(minutes));
  }

  private static JsonNode bucket(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant).body().at("/buckets/0");
  }

  private static long level(String tenant) {
    return bucket(tenant).get("level").asLong();
  }

  private static String state(String tenant) {
    return bucket(tenant).get("state").asText();
  }

  private static String queue(String tenant, String action) {
    return "https://sqs.us-east-1.amazonaws.com/000000000000/%s_%s_token_bucket"
        .formatted(action, tenant);
  }

  private static GetScheduleResponse schedule(String tenant) {
    return SCHEDULER.getSchedule(
        request -> request.groupName("tollgate").name("connect_" + tenant));
  }

  /** Takes tokens out of a bucket, as a program may. */
  private static int drain(String tenant, String action, int max) {
    int taken = 0;
    while (taken < max) {
      int wanted = Math.min(10, max - taken);
      List<Message> tokens =
          SQS.receiveMessage(
                  request -> request.queueUrl(queue(tenant, action)).maxNumberOfMessages(wanted))
              .messages();
      if (tokens.isEmpty()) {
        return taken;
      }
      tokens.forEach(
          token ->
              SQS.deleteMessage(
                  request ->
                      request
                          .queueUrl(queue(tenant, action))
                          .receiptHandle(token.receiptHandle())));
      taken += tokens.size();
    }
    return taken;
  }

  // The cost of a bucket.

  /** The number of requests of a minute for a tenant's buckets, by service. */
  private static Map<String, Long> cost(String tenant) throws Exception {
    List<Request> requests = DEPLOYMENT.requestsOf(() -> minutes(1));
    return requests.stream()
        // A shard that once had buckets queries each minute for those that are due; that request is
        // not the cost of a single bucket.
        .filter(request -> !request.operation().equals("Query"))
        .filter(
            request ->
                request.principal().name().equals("Scheduler")
                    || request.principal().name().equals("TokenProducer"))
        .filter(request -> !isOfAnother(request, tenant))
        .collect(Collectors.groupingBy(Request::operation, TreeMap::new, Collectors.counting()));
  }

  private static boolean isOfAnother(Request request, String tenant) {
    return request.service().equals("sqs")
        && request.resource().filter(name -> name.contains("_" + tenant + "_")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PRODUCER | {GetItem=2, GetQueueAttributes=2, SendMessageBatch=2, UpdateItem=2}"
            + " | {GetItem=2, GetQueueAttributes=2, UpdateItem=2}",
        "DIRECT | {SendMessageBatch=2} | {SendMessageBatch=2}",
        "SHARED | {GetItem=2, GetQueueAttributes=2, SendMessageBatch=2, UpdateItem=2}"
            + " | {GetItem=2, GetQueueAttributes=2, UpdateItem=2}",
      })
  void a_minute_of_two_buckets_costs_fixed_numbers_of_requests_in_use_and_when_full(
      String mode, String used, String full) throws Exception {
    String tenant = "cost-" + mode.toLowerCase(Locale.ROOT);
    onboard(tenant, tier(mode, 0));
    minutes(20);

    Map<String, Long> whenFull = cost(tenant);
    // The first fill of a drained bucket restores its capacity; each later fill adds a minute's
    // tokens.
    drain(tenant, "connect", CAPACITY);
    drain(tenant, "message", CAPACITY);
    minutes(1);
    drain(tenant, "connect", CAPACITY);
    drain(tenant, "message", CAPACITY);
    Map<String, Long> whenUsed = cost(tenant);

    System.out.println("two buckets, " + mode + ", full, a minute: " + whenFull);
    System.out.println("two buckets, " + mode + ", used, a minute: " + whenUsed);
    assertThat(whenUsed).hasToString(used);
    assertThat(whenFull).hasToString(full);
    assertThat(DEPLOYMENT.control("DELETE", "/tenants/" + tenant).status()).isEqualTo(204);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PRODUCER", "DIRECT", "SHARED"})
  void a_hibernating_bucket_costs_nothing_and_wakes_within_a_handshake(String mode)
      throws Exception {
    String tenant = "idle-" + mode.toLowerCase(Locale.ROOT);
    onboard(tenant, tier(mode, 3));
    minutes(30);
    assertThat(state(tenant)).isEqualTo("HIBERNATING");
    Map<String, Long> asleep = cost(tenant);
    System.out.println("two buckets, " + mode + ", hibernating, a minute: " + asleep);
    assertThat(asleep).isEmpty();

    Handshake first = DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant));

    assertThat(first.status()).isEqualTo(101);
    DEPLOYMENT.cloud().settle();
    assertThat(state(tenant)).isNotEqualTo("HIBERNATING");
    assertThat(level(tenant)).isEqualTo(CAPACITY - 1);
    DEPLOYMENT.close(first);
  }

  @Test
  void concurrent_handshakes_at_a_bucket_with_expired_tokens_are_admitted_up_to_its_capacity()
      throws Exception {
    onboard("crowd", tier("DIRECT", 3));
    minutes(30);
    assertThat(state("crowd")).isEqualTo("HIBERNATING");
    assertThat(level("crowd")).as("tokens left").isZero();
    String session = DEPLOYMENT.open("crowd");

    List<Handshake> all = DEPLOYMENT.connectAll(3 * CAPACITY, "crowd", List.of(session));

    long admitted = all.stream().filter(handshake -> handshake.status() == 101).count();
    assertThat(admitted).isBetween(1L, (long) CAPACITY);
    assertThat(admitted + level("crowd")).isEqualTo(CAPACITY);
    for (Handshake handshake : all) {
      if (handshake.status() == 101) {
        DEPLOYMENT.close(handshake);
      }
    }
  }

  // Fill modes.

  @Test
  void a_direct_bucket_is_filled_by_its_schedule_and_bounded_by_expiry() throws Exception {
    onboard("straight", tier("DIRECT", 0));
    assertThat(state("straight")).isEqualTo("CHANGING");
    minutes(18);

    assertThat(state("straight")).isEqualTo("ACTIVE");
    assertThat(schedule("straight").target().arn())
        .isEqualTo("arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch");
    assertThat(
            SQS.getQueueAttributes(
                    request ->
                        request
                            .queueUrl(queue("straight", "connect"))
                            .attributeNames(QueueAttributeName.MESSAGE_RETENTION_PERIOD))
                .attributes())
        .containsEntry(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "120");
    List<Long> levels = new ArrayList<>();
    for (int minute = 0; minute < 5; minute++) {
      minutes(1);
      levels.add(level("straight"));
    }
    assertThat(levels).containsOnly((long) CAPACITY);
    assertThat(drain("straight", "connect", 100)).isEqualTo(CAPACITY);
    minutes(1);
    assertThat(drain("straight", "connect", 100)).isEqualTo(RATE);
  }

  @Test
  void a_refused_client_of_a_direct_bucket_is_admitted_after_retry_after() throws Exception {
    onboard("patient", tier("DIRECT", 0));
    minutes(18);
    String session = DEPLOYMENT.open("patient");
    drain("patient", "connect", 100);
    assertThat(DEPLOYMENT.connect("patient", session).status()).isEqualTo(429);
    long seconds =
        Long.parseLong(
            DEPLOYMENT
                .session("GET", "?tenantId=patient&sessionId=" + session)
                .header("retry-after"));

    DEPLOYMENT.advance(Duration.ofSeconds(seconds));

    Handshake again = DEPLOYMENT.connect("patient", session);
    assertThat(again.status()).isEqualTo(101);
    DEPLOYMENT.close(again);
  }

  @Test
  @Tag("nightly")
  void a_change_of_mode_adds_or_loses_at_most_a_minutes_tokens() throws Exception {
    onboard("changing", tier("PRODUCER", 0));
    minutes(3);
    for (String mode : List.of("DIRECT", "SHARED", "DIRECT", "PRODUCER", "SHARED", "PRODUCER")) {
      DEPLOYMENT.advance(Duration.ofSeconds(20));
      assertThat(
              DEPLOYMENT
                  .control("PATCH", "/tenants/changing", "{\"tier\":\"" + tier(mode, 0) + "\"}")
                  .status())
          .isEqualTo(200);
      for (int minute = 0; minute < 6; minute++) {
        minutes(1);
        assertThat(level("changing"))
            .as("%s, minute %s", mode, minute)
            .isBetween((long) CAPACITY - RATE, (long) CAPACITY + RATE);
      }
      assertThat(level("changing")).as(mode).isEqualTo(CAPACITY);
    }
  }

  @Test
  void an_unsupported_use_of_direct_gets_an_error_with_the_reason() {
    var refused =
        DEPLOYMENT.control(
            "PUT",
            "/tiers/refused",
            document("DIRECT", 15).replace("\"tenantPerMinute\": 6", "\"tenantPerMinute\": 60"));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.body().get("detail").asText())
        .isEqualTo(
            "fillMode: DIRECT (expected: PRODUCER or SHARED for 60 a minute: DIRECT sends the same"
                + " batch each minute, 1 to 10 whole tokens (bucket connect))");
  }
}

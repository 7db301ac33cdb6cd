package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * The main path of a tenant: onboarding, admission, refusal and retry, a change of tier,
 * offboarding.
 */
final class AdmissionIT {
  /** The rounds alternate between twelve sessions and one session. */
  private static final int ROUNDS = 2 * Integer.getInteger("tests.times", 1);

  private final LocalDeployment deployment = LocalDeployment.shared();

  private JsonNode bucket(String tenant, String action) {
    Answer shown = deployment.control("GET", "/tenants/" + tenant);
    assertThat(shown.status()).isEqualTo(200);
    for (JsonNode bucket : shown.body().get("buckets")) {
      if (bucket.get("action").asText().equals(action)) {
        return bucket;
      }
    }
    throw new AssertionError(shown);
  }

  private int count(String tenant) {
    return deployment.control("GET", "/tenants/" + tenant).body().get("connections").asInt();
  }

  @Test
  void a_tenant_is_admitted_refused_admitted_again_and_offboarded() throws Exception {
    Answer onboarded = deployment.onboard("story", "gold", "{\"tenantPerMinute\":4}");
    assertThat(onboarded.status()).as("%s", onboarded).isEqualTo(201);
    assertThat(onboarded.body().at("/limits/tenantPerMinute").asInt()).isEqualTo(4);
    String session = deployment.open("story");

    List<Handshake> open = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      open.add(deployment.connect("story", session));
    }
    assertThat(open).extracting(Handshake::status).containsOnly(101);
    assertThat(deployment.connect("story", session).status()).isEqualTo(429);

    Answer status = deployment.session("GET", Deployment.query("story", session));
    assertThat(status.body().at("/admission/reason").asText()).isEqualTo("TENANT_RATE");
    long wait = Long.parseLong(status.header("retry-after"));
    assertThat(wait).isBetween(1L, 16L);
    deployment.cloud().settle();
    deployment.advance(Duration.ofSeconds(wait));
    assertThat(deployment.connect("story", session).status()).isEqualTo(101);
    assertThat(count("story")).isEqualTo(5);

    assertThat(
            deployment
                .control("PATCH", "/tenants/story", "{\"tier\":\"bronze\",\"overrides\":{}}")
                .status())
        .isEqualTo(200);
    JsonNode retuned = bucket("story", "connect");
    assertThat(retuned.get("ratePerMinute").asInt()).isEqualTo(60);
    assertThat(retuned.get("capacity").asInt()).isEqualTo(60);
    deployment.advance(Duration.ofMinutes(2));
    assertThat(bucket("story", "connect").get("level").asInt()).isEqualTo(60);
    assertThat(bucket("story", "message").get("level").asInt()).isEqualTo(60);
    try (SchedulerClient scheduler = deployment.inspect(SchedulerClient.builder())) {
      ScheduleSummary schedule =
          scheduler.listSchedules(r -> r.namePrefix("connect_story")).schedules().get(0);
      assertThat(
              scheduler
                  .getSchedule(r -> r.groupName(schedule.groupName()).name(schedule.name()))
                  .description())
          .contains("60");
    }

    assertThat(deployment.control("DELETE", "/tenants/story").status()).isIn(202, 204);
    deployment.advance(Duration.ofMinutes(1));
    assertThat(deployment.control("GET", "/tenants/story").status()).isEqualTo(404);
    assertThat(deployment.connect("story", session).status()).isEqualTo(403);
    assertNoResourcesOf("story");
  }

  private void assertNoResourcesOf(String tenant) {
    try (SqsClient sqs = deployment.inspect(SqsClient.builder());
        SchedulerClient scheduler = deployment.inspect(SchedulerClient.builder());
        DynamoDbClient dynamo = deployment.inspect(DynamoDbClient.builder())) {
      assertThat(sqs.listQueues().queueUrls()).noneMatch(url -> url.contains("_" + tenant + "_"));
      assertThat(scheduler.listSchedulesPaginator(r -> {}).schedules())
          .noneMatch(schedule -> schedule.name().endsWith("_" + tenant));
      for (String table : LocalDeployment.readableTables(dynamo)) {
        List<Map<String, AttributeValue>> rows =
            dynamo.scanPaginator(r -> r.tableName(table)).items().stream()
                .filter(
                    row ->
                        row.getOrDefault("tenantId", AttributeValue.fromS("")).s().equals(tenant))
                .toList();
        assertThat(rows).as(table).isEmpty();
      }
    }
  }

  @Test
  void a_tenant_id_can_be_used_again_after_offboarding() throws Exception {
    assertThat(deployment.onboard("phoenix", "silver", "{}").status()).isEqualTo(201);
    assertThat(deployment.control("DELETE", "/tenants/phoenix").status()).isIn(202, 204);
    assertThat(deployment.control("GET", "/tenants/phoenix").status()).isEqualTo(404);
    Answer again = deployment.onboard("phoenix", "silver", "{}");
    assertThat(again.status()).isEqualTo(201);
    assertThat(again.body().at("/buckets/0/state").asText()).isEqualTo("PROVISIONING");
    deployment.advance(Duration.ofMinutes(3));
    assertThat(bucket("phoenix", "connect").get("state").asText()).isEqualTo("ACTIVE");
    assertThat(bucket("phoenix", "connect").get("level").asInt()).isEqualTo(120);
  }

  @Test
  void sixty_concurrent_handshakes_for_ten_connections_get_ten_connections() throws Exception {
    assertThat(deployment.onboard("race", "gold", "{\"tenantConnections\":10}").status())
        .isEqualTo(201);
    for (int round = 1; round <= ROUNDS; round++) {
      List<String> sessions = new ArrayList<>();
      for (int i = 0; i < (round % 2 == 0 ? 1 : 12); i++) {
        sessions.add(deployment.open("race"));
      }
      List<Handshake> outcomes = handshakesAtOnce("race", sessions);
      assertThat(outcomes).extracting(Handshake::status).containsOnly(101, 429);
      assertThat(outcomes.stream().filter(o -> o.status() == 101).count())
          .as("round %d", round)
          .isEqualTo(10);
      assertThat(count("race")).as("round %d", round).isEqualTo(10);
      for (Handshake outcome : outcomes) {
        if (outcome.status() == 101) {
          deployment.close(outcome);
        }
      }
      assertThat(count("race")).as("round %d, closed", round).isZero();
      deployment.advance(Duration.ofMinutes(1));
    }
  }

  /**
   * Sixty handshakes at once. On a machine that is too busy for the product's time limits some are
   * answered with 5xx. Their clients try again, after a minute in which the recount removes what
   * the handshakes may have left.
   */
  private List<Handshake> handshakesAtOnce(String tenant, List<String> sessions) throws Exception {
    List<Handshake> outcomes = new ArrayList<>(deployment.connectAll(60, tenant, sessions));
    while (outcomes.stream().anyMatch(outcome -> outcome.status() >= 500)) {
      deployment.advance(Duration.ofMinutes(1));
      for (int i = 0; i < outcomes.size(); i++) {
        if (outcomes.get(i).status() >= 500) {
          outcomes.set(i, deployment.connect(tenant, sessions.get(i % sessions.size())));
        }
      }
    }
    return outcomes;
  }

  @Test
  void a_repeated_or_late_disconnect_has_no_further_effect() throws Exception {
    deployment.onboard("echoes", "gold", "{}");
    String session = deployment.open("echoes");
    assertThat(deployment.connect("echoes", session).status()).isEqualTo(101);
    assertThat(deployment.connect("echoes", session).status()).isEqualTo(101);
    List<String> connections = connections("echoes", session);
    assertThat(connections).hasSize(2);
    for (int times = 0; times < 3; times++) {
      deployment.invoke("Disconnect", disconnect("echoes", session, connections.get(0)));
    }
    assertThat(count("echoes")).isEqualTo(1);
    assertThat(connections("echoes", session)).containsExactly(connections.get(1));

    assertThat(deployment.session("DELETE", Deployment.query("echoes", session)).status())
        .isEqualTo(204);
    deployment.cloud().settle();
    deployment.invoke("Disconnect", disconnect("echoes", session, connections.get(1)));
    assertThat(count("echoes")).isZero();
    assertThat(deployment.session("GET", Deployment.query("echoes", session)).status())
        .isEqualTo(404);
    assertThat(connections("echoes", session)).isEmpty();
  }

  private static String disconnect(String tenant, String session, String connection) {
    return """
        {"requestContext": {"routeKey": "$disconnect", "eventType": "DISCONNECT",
          "connectionId": "%s", "authorizer": {"tenantId": "%s", "sessionId": "%s"}}}"""
        .formatted(connection, tenant, session);
  }

  /** The number of connections in a session's row; empty without a row. */
  private List<String> connections(String tenant, String session) {
    try (DynamoDbClient dynamo = deployment.inspect(DynamoDbClient.builder())) {
      return dynamo
          .getItem(
              r ->
                  r.tableName("TablesSession")
                      .key(
                          Map.of(
                              "tenantId", AttributeValue.fromS(tenant),
                              "sessionId", AttributeValue.fromS(session))))
          .item()
          .getOrDefault("connectionIds", AttributeValue.fromSs(List.of()))
          .ss();
    }
  }

  @Tag("nightly")
  @Test
  void hundreds_of_refused_handshakes_of_one_tenant_do_not_slow_another_tenant() throws Exception {
    strictTier();
    deployment.onboard("noisy", "strict", "{}");
    deployment.onboard("quiet", "gold", "{}");
    List<String> noisy = List.of(deployment.open("noisy"));
    assertThat(deployment.connect("noisy", noisy.get(0)).status()).isEqualTo(101);
    List<Long> alone = timedConnects(deployment.open("quiet"));
    List<Long> beside = new ArrayList<>();
    List<Integer> refused = new ArrayList<>();
    for (int wave = 0; wave < 3; wave++) {
      List<CompletableFuture<Handshake>> attempts = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        attempts.add(deployment.handshake(Deployment.query("noisy", noisy.get(0))));
      }
      beside.addAll(timedConnects(deployment.open("quiet")));
      attempts.forEach(attempt -> refused.add(attempt.join().status()));
    }
    // A load test on a slow machine may cause 500 (a table does not answer in time) and 503 (a
    // queue).
    assertThat(refused).hasSize(300).isSubsetOf(429, 500, 503);
    System.out.printf(
        "another tenant's connects: median %d ms alone, %d ms beside 300 refused attempts%n",
        median(alone), median(beside));
  }

  /** A tier that refuses connections when the bucket does not respond in time. */
  private void strictTier() {
    Answer put =
        deployment.control(
            "PUT",
            "/tiers/strict",
            """
            {"tier": "strict", "isolation": "POOL", "onUnavailable": "REFUSE",
             "limits": {"tenantPerMinute": 1, "sessionPerMinute": 5, "connectionsPerSession": 2,
                        "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 60}}""");
    assertThat(put.status()).as("%s", put).isEqualTo(201);
  }

  /**
   * Opens three sockets, which must all be admitted, and returns the duration of each handshake. As
   * a client does, it repeats a handshake that failed because a table or a queue of this machine
   * did not answer in time. A refusal is not repeated.
   */
  private List<Long> timedConnects(String session) {
    List<Long> millis = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      long start = System.nanoTime();
      int status = deployment.connect("quiet", session).status();
      for (int repeats = 0; repeats < 5 && (status == 500 || status == 503); repeats++) {
        status = deployment.connect("quiet", session).status();
      }
      assertThat(status).isEqualTo(101);
      millis.add((System.nanoTime() - start) / 1_000_000);
    }
    return millis;
  }

  private static long median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}

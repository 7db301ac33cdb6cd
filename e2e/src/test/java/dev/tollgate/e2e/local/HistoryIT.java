package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** What happened to tenants, on the engines. */
@Tag("nightly")
final class HistoryIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  private static JsonNode get(String path) {
    LocalDeployment.Answer answer = DEPLOYMENT.control("GET", path);
    assertThat(answer.status()).isEqualTo(200);
    return answer.body();
  }

  private static long sum(JsonNode steps, String pointer) {
    long sum = 0;
    for (JsonNode step : steps) {
      sum += step.at(pointer).asLong();
    }
    return sum;
  }

  /** The refusals of each minute that had some. */
  private static List<Long> refusals(JsonNode steps) {
    return steps
        .valueStream()
        .map(step -> step.at("/refusedFor/TENANT_RATE").asLong())
        .filter(refused -> refused > 0)
        .toList();
  }

  private static JsonNode tokens(JsonNode step, String action) {
    return Stream.of(step.path("tokens"))
        .flatMap(list -> list.valueStream())
        .filter(bucket -> bucket.path("action").asText().equals(action))
        .findAny()
        .orElseThrow();
  }

  /**
   * Five of nine handshakes are admitted. The last refusal is written by the next handshake, two
   * minutes later, and counts in the minute in which it happened.
   */
  @Test
  void connections_and_tokens_are_in_the_history_two_minutes_later() throws Exception {
    DEPLOYMENT.onboard("acme", "gold", "{\"tenantPerMinute\":5}");
    DEPLOYMENT.onboard("quiet", "gold", "{}");
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    String session = DEPLOYMENT.open("acme");
    List<Handshake> handshakes =
        Stream.generate(() -> DEPLOYMENT.handshake(LocalDeployment.query("acme", session)).join())
            .limit(9)
            .toList();
    long admitted = handshakes.stream().filter(each -> each.status() == 101).count();
    assertThat(admitted).isEqualTo(5);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(refusals(get("/tenants/acme/history").path("steps"))).containsExactly(3L);
    assertThat(DEPLOYMENT.connect("nobody", session).status()).isEqualTo(403);
    DEPLOYMENT.advance(Duration.ofMinutes(2));

    JsonNode acme = get("/tenants/acme/history").path("steps");
    assertThat(sum(acme, "/admitted")).isEqualTo(admitted);
    assertThat(refusals(acme)).containsExactly(4L);
    assertThat(acme.valueStream().mapToLong(step -> step.path("peakConnections").asLong()).max())
        .hasValue(admitted);
    JsonNode hour = get("/tenants/acme/history?step=1d").path("steps");
    assertThat(tokens(hour.path(0), "connect").path("minted").asLong()).isGreaterThanOrEqualTo(5);
    assertThat(tokens(hour.path(0), "connect").path("taken").asLong()).isEqualTo(admitted);

    assertThat(sum(get("/fleet").path("steps"), "/admitted")).isEqualTo(admitted);
    JsonNode refused = get("/fleet/tenants?sort=refused&window=15m").path("tenants");
    assertThat(refused.findValuesAsText("tenantId")).containsExactly("acme");

    // The buckets are full again and nobody comes: nothing is written.
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(
            DEPLOYMENT.requestsOf(() -> DEPLOYMENT.advance(Duration.ofMinutes(3))).stream()
                .filter(request -> request.principal().name().equals("HistoryWriter"))
                // Once an hour it looks for hours to write.
                .filter(request -> !request.operation().equals("Query")))
        .isEmpty();

    // The onboarding left a minute, from which on `tollgate usage` and `tollgate cost` count.
    assertThat(get("/tenants/quiet/history").path("steps")).isNotEmpty();

    // The hours are written ten minutes after the next full hour.
    DEPLOYMENT.advance(Duration.ofHours(3));
    assertThat(hours("hours")).isPositive();
    assertThat(hours("hours:acme")).isPositive();
    assertThat(stepsSince("/tenants/acme/history", 40))
        .isEqualTo(stepsSince("/tenants/acme/history", 1))
        .isNotEmpty();
    assertThat(stepsSince("/fleet", 8)).isEqualTo(stepsSince("/fleet", 1)).isNotEmpty();

    aReplayHasWhatTheLowerLimitReallyRefused(handshakes.size(), handshakes.size() - admitted);
  }

  /** A tenant without override gets as many handshakes at once as the one that really refused. */
  private static void aReplayHasWhatTheLowerLimitReallyRefused(int handshakes, long refused)
      throws Exception {
    DEPLOYMENT.onboard("wide", "gold", "{}");
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    String session = DEPLOYMENT.open("wide");
    for (int i = 0; i < handshakes; i++) {
      assertThat(DEPLOYMENT.handshake(LocalDeployment.query("wide", session)).join().status())
          .isEqualTo(101);
    }
    DEPLOYMENT.advance(Duration.ofMinutes(4));
    ObjectNode gold = (ObjectNode) get("/tiers/gold");
    gold.withObjectProperty("limits").put("tenantPerMinute", 5);

    LocalDeployment.Answer tier =
        DEPLOYMENT.control("PUT", "/tiers/gold?dryRun=true&replay=10m", gold.toString());
    LocalDeployment.Answer tenant =
        DEPLOYMENT.control(
            "PATCH",
            "/tenants/wide?dryRun=true&replay=10m",
            "{\"overrides\":{\"tenantPerMinute\":5}}");

    JsonNode row = tier.body().at("/replay/limits/0");
    assertThat(row.path("tenantId").asText()).isEqualTo("wide");
    assertThat(refused).isBetween(row.path("least").asLong(), row.path("most").asLong());
    assertThat(row.path("most").asLong()).isEqualTo(refused);
    assertThat(tier.body().at("/replay/limits")).hasSize(1);
    assertThat(tier.body().at("/replay/leftOut").toString()).isEqualTo("{\"tenantPerMinute\":1}");
    assertThat(tenant.body().at("/replay/limits")).isEqualTo(tier.body().at("/replay/limits"));
    assertThat(get("/tiers/gold").at("/limits/tenantPerMinute").asLong()).isGreaterThan(5);
  }

  /** The steps of days; of more than 31 days of a tenant, and 7 of all, from hours. */
  private static JsonNode stepsSince(String path, int days) {
    Instant from = DEPLOYMENT.clock().instant().truncatedTo(ChronoUnit.MINUTES);
    return get(path + "?step=1d&from=" + from.minus(Duration.ofDays(days))).path("steps");
  }

  /** The number of rows with hours of a tenant, or of all together. */
  private static int hours(String key) {
    try (DynamoDbClient rows = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      return rows.query(
              request ->
                  request
                      .tableName("TablesHistory")
                      .keyConditionExpression("#key = :key")
                      .expressionAttributeNames(Map.of("#key", "key"))
                      .expressionAttributeValues(Map.of(":key", AttributeValue.fromS(key))))
          .count();
    }
  }
}

package dev.tollgate.controlplane;

import static dev.tollgate.core.testing.Samples.withSpare;
import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tenants' lines: switched by tiers and overrides, shown, and cleared. */
class LineTest {
  private static final BucketId CONNECTS = new BucketId(new TenantId("acme"), Action.CONNECT);
  private static final BucketId MESSAGES = new BucketId(new TenantId("acme"), Action.MESSAGE);

  private static final String BRONZE =
      """
      {"isolation":"POOL","limits":{"tenantPerMinute":60,"sessionPerMinute":5,
       "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,"messagesPerMinute":60,
       "sessionsPerSubject":2},"line":%s}""";

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  @BeforeEach
  void onboard() {
    at.onboard("acme", "bronze");
  }

  private Bucket row(BucketId id) {
    return at.buckets.find(id).orElseThrow();
  }

  /** Lets callers wait for tokens of a bucket of one a second. */
  private Line queued(BucketId id, int callers) {
    Line line = row(id).at(at.clock.instant()).lineOpened(at.clock.instant().plusSeconds(1));
    return at.buckets.changeLine(id, row(id).line(), line.withIssued(callers)).orElseThrow();
  }

  private static String line(Answer answer, String action) {
    return answer.bucket(action).path("line").toString();
  }

  @Test
  void tenant_and_activity_show_how_many_wait_and_how_long_a_new_caller_would() {
    assertThat(line(at.get("acme"), "connect")).isEqualTo("{\"length\":0,\"waitSeconds\":0}");

    queued(CONNECTS, 12);

    assertThat(line(at.get("acme"), "connect")).isEqualTo("{\"length\":12,\"waitSeconds\":13}");
    assertThat(at.activity("acme").document().at("/tenants/0/buckets/0/line").toString())
        .isEqualTo("{\"length\":12,\"waitSeconds\":13}");
    assertThat(line(at.get("acme"), "message")).isEqualTo("{\"length\":0,\"waitSeconds\":0}");
    at.clock.advance(Duration.ofMillis(3_500));
    assertThat(line(at.get("acme"), "connect")).isEqualTo("{\"length\":9,\"waitSeconds\":10}");
    at.clock.advance(Duration.ofSeconds(30));
    assertThat(line(at.get("acme"), "connect")).isEqualTo("{\"length\":0,\"waitSeconds\":0}");
  }

  @Test
  void while_a_token_is_spare_a_new_caller_does_not_wait() {
    Line line = queued(CONNECTS, 3);
    Line spare = withSpare(line, 1);
    at.buckets.changeLine(CONNECTS, Optional.of(line), spare);

    assertThat(line(at.get("acme"), "connect")).isEqualTo("{\"length\":3,\"waitSeconds\":0}");
  }

  @Test
  void tier_switches_the_lines_of_its_tenants() {
    at.onboard("beta", "bronze");
    Line taken = queued(CONNECTS, 3);

    assertThat(at.putTier("bronze", BRONZE.formatted(false)).document().get("line").asBoolean())
        .isFalse();
    at.sweep();

    for (String tenant : List.of("acme", "beta")) {
      assertThat(at.get(tenant).document().get("line").asBoolean()).isFalse();
      assertThat(line(at.get(tenant), "connect")).isEmpty();
    }
    assertThat(row(CONNECTS).at(at.clock.instant()).line()).isEmpty();
    at.assertConsistent();

    at.putTier("bronze", BRONZE.formatted(true));
    at.sweep();

    assertThat(line(at.get("acme"), "connect")).isEqualTo("{\"length\":0,\"waitSeconds\":0}");
    assertThat(row(CONNECTS).at(at.clock.instant()).standing(taken.last()))
        .isEqualTo(Line.Standing.VOID);
    at.assertConsistent();
  }

  @Test
  void override_switches_the_line_of_one_tenant_either_way() {
    at.onboard("beta", "bronze");
    assertThat(at.patch("acme", "{\"overrides\":{\"line\":false}}").document().toString())
        .contains("\"overrides\":{\"line\":false}", "\"line\":false,");
    assertThat(at.get("beta").document().get("line").asBoolean()).isTrue();

    at.putTier("bronze", BRONZE.formatted(false));
    at.sweep();
    at.patch("acme", "{\"overrides\":{\"line\":true}}");

    assertThat(at.get("acme").document().get("line").asBoolean()).isTrue();
    assertThat(at.get("beta").document().get("line").asBoolean()).isFalse();
    assertThat(at.patch("acme", "{\"overrides\":{}}").document().get("line").asBoolean()).isFalse();
    at.assertConsistent();
  }

  @Test
  void places_that_were_taken_before_the_line_was_switched_off_are_void_when_it_is_on_again() {
    Line before = queued(CONNECTS, 3);

    at.patch("acme", "{\"overrides\":{\"line\":false}}");
    assertThat(row(CONNECTS).line()).contains(before);
    at.patch("acme", "{\"overrides\":{}}");

    assertThat(row(CONNECTS).line()).contains(before.cleared(at.clock.instant()));
  }

  @Test
  void switch_leaves_the_fill_and_is_previewed() {
    Bucket before = row(CONNECTS);
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of(
            "PATCH /tenants/{tenantId}",
            Map.of("tenantId", "acme"),
            "{\"overrides\":{\"line\":false}}");
    event.setQueryStringParameters(new HashMap<>(Map.of("dryRun", "true")));

    assertThat(at.send(event).document().at("/tenants/0/changes").toString())
        .isEqualTo(
            "{\"overrides\":{\"line\":{\"to\":false}}," + "\"line\":{\"from\":true,\"to\":false}}");
    at.patch("acme", "{\"overrides\":{\"line\":false}}");

    assertThat(row(CONNECTS).fillState()).isEqualTo(before.fillState());
    assertThat(row(CONNECTS).ledger()).isEqualTo(before.ledger());
  }

  @Test
  void clearing_makes_the_places_in_all_lines_void_and_can_be_repeated() {
    Line connects = queued(CONNECTS, 12);
    Line messages = queued(MESSAGES, 2);

    Answer cleared = at.clearLine("acme");

    assertThat(cleared.status()).isEqualTo(200);
    assertThat(cleared.headers()).containsEntry("etag", "\"1\"");
    assertThat(line(cleared, "connect")).isEqualTo("{\"length\":0,\"waitSeconds\":0}");
    assertThat(row(CONNECTS).line()).contains(connects.cleared(at.clock.instant()));
    assertThat(row(MESSAGES).line()).contains(messages.cleared(at.clock.instant()));

    at.clock.advance(Duration.ofSeconds(1));
    assertThat(at.clearLine("acme").status()).isEqualTo(200);
    assertThat(row(CONNECTS).line().orElseThrow().epoch()).isEqualTo(connects.epoch() + 1);
  }

  @Test
  void clearing_without_a_line_changes_nothing() {
    Bucket before = row(CONNECTS);

    assertThat(at.clearLine("acme").status()).isEqualTo(200);

    assertThat(row(CONNECTS)).isEqualTo(before);
    assertThat(at.clearLine("nobody").status()).isEqualTo(404);
  }

  @Test
  void clearing_heeds_if_match_and_refuses_dry_runs() {
    Line line = queued(CONNECTS, 2);
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of("DELETE /tenants/{tenantId}/line", Map.of("tenantId", "acme"));
    event.setHeaders(new HashMap<>(Map.of("if-match", "\"2\"")));
    assertThat(at.send(event).status()).isEqualTo(412);
    event.setHeaders(new HashMap<>());
    event.setQueryStringParameters(new HashMap<>(Map.of("dryRun", "true")));
    assertThat(at.send(event).status()).isEqualTo(400);
    assertThat(row(CONNECTS).line()).contains(line);

    event.setQueryStringParameters(null);
    event.setHeaders(new HashMap<>(Map.of("if-match", "\"1\"")));
    assertThat(at.send(event).status()).isEqualTo(200);
    assertThat(row(CONNECTS).line()).contains(line.cleared(at.clock.instant()));
  }

  @Test
  void clearing_is_a_503_if_the_row_cannot_be_written() {
    queued(CONNECTS, 2);
    at.buckets.outage().begin("clearLine");

    assertThat(at.clearLine("acme").status()).isEqualTo(503);
  }
}

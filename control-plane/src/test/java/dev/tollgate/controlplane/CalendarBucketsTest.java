package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Buckets that a calendar fills, through the control plane. */
final class CalendarBucketsTest {
  private static final BucketId EMAILS = ControlPlaneFixture.bucket("acme", "send-email");
  private static final String DAILY =
      "{\"every\":\"DAY\",\"at\":\"00:00\",\"zone\":\"Europe/Berlin\"}";

  /** The next midnight in Berlin. */
  private static final Instant MIDNIGHT = Instant.parse("2026-03-12T23:00:00Z");

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private static String tier(String terms) {
    return """
        {"isolation":"POOL","buckets":{"send-email":%s},
         "limits":{"tenantPerMinute":60,"sessionPerMinute":5,"connectionsPerSession":2,
                   "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":6}}"""
        .formatted(terms);
  }

  private static String daily(int capacity) {
    return tier("{\"refill\":" + DAILY + ",\"capacity\":" + capacity + "}");
  }

  private void spend(int tokens) {
    List<Lease> leases =
        at.tokens.reserve(EMAILS, tokens, Duration.ofSeconds(30), TokenQueue.Search.SHORT);
    assertThat(leases).hasSize(tokens);
    assertThat(at.tokens.settle(EMAILS, leases)).isEmpty();
  }

  @Test
  void tenant_has_its_quota_at_once_and_is_shown_when_the_next_one_begins() {
    Answer made = at.putTier("mail", daily(5));
    assertThat(made.status()).isEqualTo(201);
    assertThat(made.document().at("/buckets/send-email").toString())
        .isEqualTo("{\"refill\":" + DAILY + ",\"capacity\":5}");
    at.onboard("acme", "mail");

    assertThat(at.get("acme").bucket("send-email").toString())
        .contains("\"refill\":" + DAILY + ",\"capacity\":5,\"level\":5")
        .contains("\"nextTokenAt\":\"" + MIDNIGHT.plusSeconds(1) + "\"")
        .doesNotContain("ratePerMinute", "\"line\"");
    at.assertConsistent();
  }

  @Test
  void what_is_left_of_a_day_is_not_shown_in_the_next_one_and_its_fill_replaces_it() {
    at.putTier("mail", daily(5));
    at.onboard("acme", "mail");
    spend(2);
    at.clock.set(MIDNIGHT);

    assertThat(at.get("acme").bucket("send-email").get("level").longValue()).isZero();
    at.fill(EMAILS);
    assertThat(at.get("acme").bucket("send-email").get("level").longValue()).isEqualTo(5);
    assertThat(at.tokens.level(EMAILS)).isEqualTo(5);
  }

  @Test
  void change_of_the_quota_applies_at_once_and_counts_what_was_taken_of_the_day() {
    at.putTier("mail", daily(5));
    at.onboard("acme", "mail");
    spend(2);

    assertThat(at.putTier("mail", daily(8)).status()).isEqualTo(200);
    assertThat(at.tokens.level(EMAILS)).isEqualTo(6);
    assertThat(at.putTier("mail", daily(3)).status()).isEqualTo(200);
    assertThat(at.tokens.level(EMAILS)).isEqualTo(1);
    assertThat(at.putTier("mail", daily(5)).status()).isEqualTo(200);
    assertThat(at.tokens.level(EMAILS)).isEqualTo(3);
    at.assertConsistent();
  }

  @Test
  void bucket_changes_from_a_rate_to_a_calendar_and_back() {
    at.putTier("mail", tier("{\"ratePerMinute\":10,\"capacity\":20}"));
    at.onboard("acme", "mail");

    APIGatewayV2HTTPEvent dryRun =
        HttpApiEvents.of("PUT /tiers/{tier}", Map.of("tier", "mail"), daily(5));
    dryRun.setQueryStringParameters(Map.of("dryRun", "true"));
    assertThat(at.send(dryRun).document().at("/changes/buckets/send-email").toString())
        .isEqualTo(
            "{\"ratePerMinute\":{\"from\":10},\"capacity\":{\"from\":20,\"to\":5},"
                + "\"refill\":{\"every\":{\"to\":\"DAY\"},\"at\":{\"to\":\"00:00\"},"
                + "\"zone\":{\"to\":\"Europe/Berlin\"}}}");
    at.putTier("mail", daily(5));
    at.assertConsistent();
    assertThat(at.get("acme").bucket("send-email").get("capacity").longValue()).isEqualTo(5);
    assertThat(at.schedules.schedules().get(EMAILS).spec().refill())
        .hasToString("each day at 00:00 (Europe/Berlin)");

    at.putTier("mail", tier("{\"ratePerMinute\":10,\"capacity\":20}"));
    at.assertConsistent();
    assertThat(at.get("acme").bucket("send-email").get("ratePerMinute").intValue()).isEqualTo(10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'refill':{'every':'MONTH','at':'00:00','zone':'UTC'},'capacity':5}"
            + " | buckets.send-email.refill.every: MONTH | fourteen days",
        "{'refill':{'every':'DAY','at':'0:00','zone':'UTC'},'capacity':5}"
            + " | buckets.send-email.refill.at: 0:00 | a time such as 00:00",
        "{'refill':{'every':'DAY','at':'00:00','zone':'Berlin'},'capacity':5}"
            + " | buckets.send-email.refill.zone: Berlin | Europe/Berlin",
        "{'refill':{'every':'DAY','at':'00:00'},'capacity':5}"
            + " | buckets.send-email.refill.zone: missing | a time zone",
        "{'refill':{'every':'DAY','at':'00:00','zone':'UTC','on':'MONDAY'},'capacity':5}"
            + " | buckets.send-email.refill.on | at, carryOver, day, every, zone",
        "{'refill':{'every':'DAY','at':'00:00','zone':'UTC'}}"
            + " | buckets.send-email.capacity: missing | tokens in a period",
        "{'refill':{'every':'DAY','at':'00:00','zone':'UTC'},'ratePerMinute':1,'capacity':5}"
            + " | buckets.send-email.refill: given beside ratePerMinute | either",
      })
  void invalid_calendar_is_refused_with_the_reason(String terms, String field, String expected) {
    Answer answer = at.putTier("mail", tier(terms.replace('\'', '"')));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.document().get("detail").textValue()).contains(field, expected);
    assertThat(at.getTier("mail").status()).isEqualTo(404);
  }

  @Test
  void connections_and_messages_have_rates_and_no_calendar() {
    Answer answer =
        at.putTier(
            "mail",
            tier("{\"ratePerMinute\":1}")
                .replace(
                    "\"buckets\":{",
                    "\"buckets\":{\"connect\":{\"refill\":" + DAILY + ",\"capacity\":5},"));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.document().get("detail").textValue())
        .contains("buckets.connect", "limits.tenantPerMinute");
  }
}

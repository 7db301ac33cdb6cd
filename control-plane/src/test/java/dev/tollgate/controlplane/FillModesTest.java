package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.bucket.BucketId;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FillModesTest {
  private static final BucketId CONNECTS = ControlPlaneFixture.bucket("acme", "connect");

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private static String tier(String mode, int perMinute, int capacity) {
    return """
        {"isolation":"POOL","fillMode":"%s","hibernateAfterMinutes":5,
         "buckets":{"connect":{"capacity":%d}},
         "limits":{"tenantPerMinute":%d,"sessionPerMinute":5,"connectionsPerSession":2,
                   "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":6}}"""
        .formatted(mode, capacity, perMinute);
  }

  private void minutes(int minutes) {
    for (int i = 0; i < minutes; i++) {
      at.clock.advance(Duration.ofMinutes(1));
      at.maintenance().maintain(CONNECTS, Instant.MAX);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "11 | 20 | sends the same batch each minute, 1 to 10 whole tokens",
        "6 | 5 | the capacity is at least 6",
        "2 | 100000 | the capacity is at most 40320",
      })
  void an_unsupported_use_of_direct_is_refused_with_the_reason(
      int perMinute, int capacity, String reason) {
    Answer answer = at.putTier("own", tier("DIRECT", perMinute, capacity));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.document().get("detail").textValue())
        .contains("fillMode: DIRECT", reason, "bucket connect");
    assertThat(at.getTier("own").status()).isEqualTo(404);
  }

  @Test
  void an_override_that_direct_cannot_fill_is_refused() {
    at.putTier("own", tier("DIRECT", 6, 12));
    at.onboard("acme", "own");

    Answer answer = at.patch("acme", "{\"overrides\":{\"tenantPerMinute\":11}}");

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.document().get("detail").textValue()).contains("11 a minute", "1 to 10");
    assertThat(at.get("acme").document().get("version").longValue()).isEqualTo(1);
  }

  @Test
  void a_tier_cannot_become_direct_while_overrides_do_not_fit() {
    at.putTier("own", tier("PRODUCER", 6, 12));
    at.post("{\"tenantId\":\"acme\",\"tier\":\"own\",\"overrides\":{\"tenantPerMinute\":11}}");

    Answer answer = at.putTier("own", tier("DIRECT", 6, 12));

    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.document().get("detail").textValue()).contains("acme", "11 a minute");
    assertThat(at.getTier("own").document().get("fillMode").textValue()).isEqualTo("PRODUCER");
    at.assertConsistent();
  }

  @Test
  void a_tenant_shows_how_each_bucket_is_filled() {
    at.putTier("own", tier("DIRECT", 6, 12));
    at.onboard("acme", "own");
    assertThat(at.get("acme").bucket("connect").toString())
        .contains("\"level\":12,\"fillMode\":\"DIRECT\",\"state\":\"CHANGING\"", "nextTokenAt");

    minutes(17);

    assertThat(at.get("acme").bucket("connect").toString())
        .contains("\"level\":12,\"fillMode\":\"DIRECT\",\"state\":\"ACTIVE\"", "nextTokenAt");
  }

  @ParameterizedTest
  @CsvSource({"PRODUCER, SHARED", "SHARED, DIRECT", "DIRECT, PRODUCER", "SHARED, PRODUCER"})
  void a_change_of_mode_neither_adds_nor_loses_tokens(String from, String to) {
    at.putTier("own", tier(from, 6, 12));
    at.onboard("acme", "own");
    minutes(2);

    assertThat(at.putTier("own", tier(to, 6, 12)).status()).isEqualTo(200);

    at.assertConsistent();
    assertThat(at.tokens.level(CONNECTS)).isEqualTo(12);
    minutes(2);
    assertThat(at.tokens.level(CONNECTS)).isEqualTo(12);
  }

  @Test
  void a_hibernating_bucket_is_filled_when_its_suspended_tenant_is_activated() {
    at.putTier("own", tier("PRODUCER", 6, 12));
    at.onboard("acme", "own");
    minutes(7);
    assertThat(at.get("acme").bucket("connect").get("state").textValue()).isEqualTo("HIBERNATING");

    at.patch("acme", "{\"status\":\"SUSPENDED\"}");
    at.assertConsistent();
    at.patch("acme", "{\"status\":\"ACTIVE\"}");

    at.assertConsistent();
    assertThat(at.get("acme").bucket("connect").get("state").textValue()).isEqualTo("ACTIVE");
  }
}

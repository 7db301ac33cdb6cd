package dev.tollgate.controlplane;

import static dev.tollgate.controlplane.ControlPlaneFixture.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The activity of tenants, and the search for tenants. */
class ActivityTest {
  private static final TenantId ACME = new TenantId("acme");

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private JsonNode of(String id) {
    return at.activity(id).document().at("/tenants/0");
  }

  private JsonNode connectBucketOf(String id) {
    return of(id).at("/buckets/0");
  }

  private List<String> ids(JsonNode document) {
    List<String> ids = new ArrayList<>();
    document.get("tenants").forEach(tenant -> ids.add(tenant.get("tenantId").textValue()));
    return ids;
  }

  @Test
  void activity_lists_the_existing_tenants_in_the_requested_order() {
    at.onboard("acme", "bronze");
    at.onboard("beta", "bronze");
    at.sessions.countUp(ACME, 10);
    at.sessions.countUp(ACME, 10);
    at.sessions.countDown(ACME, 1);
    at.activity.addRefused(ACME, Samples.refusals(45));

    JsonNode document = at.activity("beta,nobody,acme,beta").document();

    assertThat(document.get("at").textValue()).isEqualTo(at.clock.instant().toString());
    assertThat(ids(document)).containsExactly("beta", "acme");
    String nextTokenAt = at.get("acme").bucket("connect").get("nextTokenAt").textValue();
    assertThat(document.at("/tenants/1").toString())
        .startsWith(
            "{\"tenantId\":\"acme\",\"connections\":1,\"admitted\":2,\"refused\":45,"
                + "\"buckets\":[{\"action\":\"connect\",\"ratePerMinute\":60,\"capacity\":60,"
                + "\"level\":60,\"fillMode\":\"PRODUCER\",\"state\":\"ACTIVE\","
                + "\"nextTokenAt\":\""
                + nextTokenAt
                + "\",\"line\":{\"length\":0,\"waitSeconds\":0},\"minted\":60},");
    assertThat(document.at("/tenants/0/refused").longValue()).isZero();
  }

  @Test
  void activity_needs_two_reads_per_tenant_and_no_queue() {
    at.onboard("acme", "gold");
    at.faults.none();

    at.activity("acme,nobody");

    assertThat(at.faults.calls())
        .containsExactlyInAnyOrder("Tenants.find", "Activity.of", "Tenants.find");
  }

  @Test
  void activity_and_tenant_show_the_same_bucket_states() {
    at.onboard("acme", "bronze");
    assertThat(connectBucketOf("acme")).isEqualTo(at.get("acme").bucket("connect"));
    at.patch("acme", "{\"status\":\"SUSPENDED\"}");
    assertThat(connectBucketOf("acme")).isEqualTo(at.get("acme").bucket("connect"));
    assertThat(connectBucketOf("acme").get("state").textValue()).isEqualTo("SUSPENDED");

    at.queues.outage().begin();
    at.onboard("beta", "bronze");
    assertThat(connectBucketOf("beta").get("state").textValue()).isEqualTo("PROVISIONING");
    at.delete("acme");
    assertThat(connectBucketOf("acme").get("state").textValue()).isEqualTo("REMOVING");
    at.buckets.outage().begin("open");
    at.onboard("gamma", "bronze");
    assertThat(connectBucketOf("gamma").get("state").textValue()).isEqualTo("PROVISIONING");
    assertThat(connectBucketOf("gamma").get("level").longValue()).isZero();
  }

  @Test
  void an_empty_bucket_has_level_0_until_its_next_token_is_due() {
    at.onboard("acme", "bronze");
    at.buckets.rememberEmpty(
        at.buckets.find(bucket("acme", "connect")).orElseThrow(),
        new EmptyHint(at.clock.instant(), at.clock.instant().plusSeconds(30), 0));

    assertThat(connectBucketOf("acme").get("level").longValue()).isZero();
    at.clock.advance(Duration.ofSeconds(30));
    assertThat(connectBucketOf("acme").get("level").longValue()).isEqualTo(60);
  }

  @Test
  void totals_restart_when_a_tenant_is_onboarded_again() {
    at.onboard("acme", "bronze");
    at.sessions.countUp(ACME, 10);
    at.activity.addRefused(ACME, Samples.refusals(2));
    assertThat(at.delete("acme").status()).isEqualTo(204);
    at.activity.addRefused(ACME, Samples.refusals(1));

    assertThat(at.activity("acme").document().get("tenants")).isEmpty();
    at.onboard("acme", "bronze");
    assertThat(of("acme").get("admitted").longValue()).isZero();
    assertThat(of("acme").get("refused").longValue()).isZero();
    at.activity.addRefused(ACME, Samples.refusals(1));
    assertThat(of("acme").get("refused").longValue()).isEqualTo(1);
  }

  @Test
  void a_change_of_tier_keeps_the_totals() {
    at.onboard("acme", "bronze");
    at.sessions.countUp(ACME, 10);
    at.activity.addRefused(ACME, Samples.refusals(2));

    at.patch("acme", "{\"tier\":\"silver\"}");

    assertThat(of("acme").get("admitted").longValue()).isEqualTo(1);
    assertThat(of("acme").get("refused").longValue()).isEqualTo(2);
  }

  @Test
  void activity_is_a_503_if_a_table_is_unavailable() {
    at.onboard("acme", "bronze");
    at.activity.outage().begin();

    assertThat(at.activity("acme").status()).isEqualTo(503);
  }

  @Test
  void tenants_are_filtered_by_prefix_tier_and_pending_changes() {
    for (String id : List.of("acme", "acre", "beta")) {
      at.onboard(id, id.equals("acre") ? "silver" : "bronze");
    }
    at.queues.outage().begin();
    at.onboard("acorn", "bronze");

    assertThat(ids(at.list(Map.of("prefix", "ac")).document()))
        .containsExactlyInAnyOrder("acme", "acre", "acorn");
    assertThat(ids(at.list(Map.of("tier", "silver")).document())).containsExactly("acre");
    assertThat(ids(at.list(Map.of("pending", "true")).document())).containsExactly("acorn");
    assertThat(ids(at.list(Map.of("prefix", "ac", "tier", "bronze")).document()))
        .containsExactlyInAnyOrder("acme", "acorn");
    assertThat(ids(at.list(Map.of("prefix", "ac", "tier", "bronze", "pending", "true")).document()))
        .containsExactly("acorn");
    assertThat(ids(at.list(Map.of("tier", "none")).document())).isEmpty();
    assertThat(ids(at.list(Map.of("pending", "false")).document())).hasSize(4);
  }

  @Test
  void a_cursor_is_valid_only_with_the_filters_of_its_page() {
    for (String id : List.of("acme", "acorn", "acre")) {
      at.onboard(id, "bronze");
    }
    Map<String, String> search = Map.of("prefix", "ac", "limit", "2");
    JsonNode first = at.list(search).document();
    String next = first.get("next").textValue();

    JsonNode second = at.list(Map.of("prefix", "ac", "limit", "1", "cursor", next)).document();
    assertThat(ids(first)).containsExactly("acme", "acorn");
    assertThat(ids(second)).containsExactly("acre");
    assertThat(at.list(Map.of("prefix", "ac", "pending", "false", "cursor", next)).status())
        .isEqualTo(200);
    for (Map<String, String> other :
        List.of(
            Map.<String, String>of(),
            Map.of("prefix", "a"),
            Map.of("prefix", "ac", "tier", "bronze"),
            Map.of("prefix", "ac", "pending", "true"))) {
      Map<String, String> query = new HashMap<>(other);
      query.put("cursor", next);
      assertThat(at.list(query).status()).as("%s", other).isEqualTo(400);
    }
  }
}

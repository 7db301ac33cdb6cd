package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.http.testing.HttpApiEvents;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Requests fail with the name of a tenant whose row a newer release wrote; other tenants are not
 * affected.
 */
class NewerRowTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final String FASTER =
      """
      {"isolation":"POOL","fillMode":"PRODUCER","hibernateAfterMinutes":5,
       "limits":{"tenantPerMinute":90,"sessionPerMinute":5,"connectionsPerSession":2,
                 "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":8}}""";

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private void onboard() {
    at.putTier("own", FASTER.replace("90", "4"));
    at.onboard("acme", "own");
    at.onboard("beta", "own");
    at.tenants.writeByNewerRelease(ACME);
  }

  @Test
  void a_request_for_a_newer_row_fails_with_its_name_and_both_versions() {
    onboard();

    Answer answer = at.get("acme");

    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.document().get("detail").textValue())
        .isEqualTo(
            "the row of tenant acme has schema version 2 (expected: at most 1);"
                + " deploy the release that wrote it");
    assertThat(at.delete("acme").status()).isEqualTo(500);
  }

  @Test
  void listings_skip_and_log_a_newer_row() {
    onboard();

    JsonNode listed = at.list(Map.of()).document().get("tenants");

    assertThat(listed).hasSize(1);
    assertThat(listed.get(0).get("tenantId").textValue()).isEqualTo("beta");
    assertThat(at.context.logged()).anyMatch(line -> line.contains("the row of tenant acme has"));
  }

  @Test
  void a_newer_tenant_row_keeps_its_tier_from_being_rolled_out() {
    onboard();

    at.putTier("own", FASTER);
    at.sweep(1);

    assertThat(at.tenant("beta").orElseThrow().limits().values().values()).contains(90L);
    assertThat(at.tiers.list().items()).anyMatch(tier -> !TierRollOut.isRolledOut(tier));
    assertThat(at.getTier("own").document().toString()).contains("\"tenants\":2");
  }

  @Test
  void the_tier_of_a_newer_tenant_row_cannot_be_deleted() {
    onboard();
    at.delete("beta");
    at.sweep(3);
    assertThat(at.tenant("beta")).isEmpty();

    assertThat(at.deleteTier("own").status()).isEqualTo(409);
    assertThat(at.tiers.list().items()).anyMatch(tier -> tier.name().value().equals("own"));
  }

  @Test
  void the_doctor_reports_a_newer_row_and_deletes_nothing() {
    onboard();
    at.buckets.remove(ControlPlaneFixture.bucket("acme", "connect"));

    List<JsonNode> found = DriftTest.allFindings(at, "GET /drift", 2);
    DriftTest.allFindings(at, "POST /repairs", 2);
    at.sweep(2);

    assertThat(found)
        .singleElement()
        .satisfies(
            finding ->
                assertThat(finding.get("detail").textValue())
                    .contains("deploy the release that wrote it"));
    assertThat(at.tokens.has(ControlPlaneFixture.bucket("acme", "connect"))).isTrue();
  }

  @Test
  void activity_skips_a_newer_row() {
    onboard();

    JsonNode activity = activity();

    assertThat(activity.findValuesAsText("tenantId")).containsExactly("beta");
    assertThat(at.context.logged()).anyMatch(line -> line.contains("the row of tenant acme has"));
  }

  @Test
  void a_newer_row_of_a_bucket_stays_until_its_tenant_is_offboarded() {
    at.putTier("own", FASTER);
    at.onboard("acme", "own");
    at.onboard("beta", "own");
    BucketId connect = ControlPlaneFixture.bucket("acme", "connect");
    at.buckets.writeByNewerRelease(connect);

    assertThat(DriftTest.allFindings(at, "POST /repairs", 2))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue())
                  .contains("deploy the release that wrote it");
            });
    assertThat(at.buckets.has(connect)).isTrue();
    assertThat(activity().findValuesAsText("tenantId")).containsExactly("beta");
    assertThat(at.patch("acme", "{\"status\":\"SUSPENDED\"}").status()).isEqualTo(200);
    assertThat(at.tenant("acme").orElseThrow().status()).isEqualTo(TenantStatus.SUSPENDED);
    assertThat(at.tenant("acme").orElseThrow().isSettled()).isFalse();

    at.delete("acme");
    at.sweep(2);
    assertThat(at.tenant("acme")).isEmpty();
    assertThat(at.buckets.has(connect)).isFalse();
    assertThat(at.tokens.has(connect)).isFalse();
  }

  private JsonNode activity() {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /activity");
    event.setQueryStringParameters(Map.of("tenantIds", "acme,beta"));
    Answer answer = at.send(event);
    assertThat(answer.status()).isEqualTo(200);
    return answer.document().get("tenants");
  }
}

package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.TierName;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The audit, and who is named as author. */
class AuditTest {
  private static final Subject ACME = Subject.tenant(new TenantId("acme"));

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private void append(int number, Subject subject, Duration ago) {
    Instant when = ControlPlaneFixture.START.minus(ago);
    at.audit.append(
        AuditEntry.of(
            "id-" + number,
            when,
            subject,
            ChangeType.TENANT_CHANGED,
            new Author("alice", "request-" + number),
            Map.of("tier", "gold"),
            Map.of("tier", "silver")));
  }

  private static List<String> ids(JsonNode page) {
    List<String> ids = new ArrayList<>();
    page.path("entries").forEach(entry -> ids.add(entry.path("id").asText()));
    return ids;
  }

  @Test
  void a_week_of_all_changes_is_shown_with_the_newest_first() {
    append(1, ACME, Duration.ofDays(8));
    append(2, ACME, Duration.ofDays(6));
    append(3, Subject.DEPLOYMENT, Duration.ofDays(5));

    Answer answer = at.audit(Map.of());

    assertThat(answer.status()).isEqualTo(200);
    assertThat(ids(answer.document())).containsExactly("id-3", "id-2");
    JsonNode entry = answer.document().at("/entries/1");
    assertThat(entry.path("subject").asText()).isEqualTo("tenant/acme");
    assertThat(entry.path("what").asText()).isEqualTo("TenantChanged");
    assertThat(entry.path("by").asText()).isEqualTo("alice");
    assertThat(entry.path("request").asText()).isEqualTo("request-2");
    assertThat(entry.at("/from/tier").asText()).isEqualTo("gold");
    assertThat(entry.at("/to/tier").asText()).isEqualTo("silver");
  }

  @Test
  void a_tenant_that_does_not_exist_keeps_its_entries() {
    append(1, ACME, Duration.ofDays(100));
    append(2, Subject.tenant(new TenantId("acme2")), Duration.ofDays(100));

    JsonNode page =
        at.audit(
                Map.of(
                    "tenantId",
                    "acme",
                    "from",
                    ControlPlaneFixture.START.minus(Duration.ofDays(200)).toString()))
            .document();

    assertThat(ids(page)).containsExactly("id-1");
    assertThat(page.has("next")).isFalse();
  }

  @Test
  void a_tier_has_its_own_entries() {
    append(1, ACME, Duration.ofDays(1));
    append(2, Subject.tier(new TierName("acme")), Duration.ofDays(1));

    assertThat(ids(at.audit(Map.of("tier", "acme")).document())).containsExactly("id-2");
    assertThat(at.audit(Map.of("tier", "acme", "tenantId", "acme")).status()).isEqualTo(400);
  }

  @Test
  void a_cursor_reads_the_next_page_of_its_own_listing_alone() {
    for (int i = 1; i <= 3; i++) {
      append(i, ACME, Duration.ofDays(4 - i));
    }
    Map<String, String> query = new HashMap<>(Map.of("limit", "2"));
    JsonNode first = at.audit(query).document();
    query.put("cursor", first.path("next").asText());

    assertThat(ids(first)).containsExactly("id-3", "id-2");
    assertThat(ids(at.audit(query).document())).containsExactly("id-1");
    query.put("tenantId", "acme");
    assertThat(at.audit(query).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({
    "tenantId, Acme",
    "tier, Gold",
    "from, yesterday",
    "from, 2020-01-01T00:00:00Z",
    "from, +1000000000-12-31T23:59:59Z",
    "from, 9999-01-01T00:00:00Z",
    "to, 1970-01-01T00:00:00Z",
    "to, -1000000000-01-01T00:00:00Z",
    "limit, 0",
    "limit, 101",
    "cursor, abc",
  })
  void a_value_that_is_not_valid_is_refused(String name, String value) {
    assertThat(at.audit(Map.of(name, value)).status()).isEqualTo(400);
  }

  @Test
  void the_author_is_the_signer_of_the_request_and_then_the_sweep() {
    at.audit(Map.of());
    assertThat(at.author.get())
        .isEqualTo(new Author("arn:aws:iam::123456789012:user/platform", "cCLsRg3_oAMESBw="));

    at.sweep();
    assertThat(at.author.get().who()).isEqualTo("tollgate:release");
  }
}

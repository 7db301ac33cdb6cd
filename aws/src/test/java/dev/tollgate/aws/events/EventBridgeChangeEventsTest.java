package dev.tollgate.aws.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.testing.Samples;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EventBridgeChangeEventsTest extends ScriptedAdapters {
  private static final String PUT = "PutEvents";

  private static AuditEntry entry(String id) {
    return AuditEntry.of(
        id,
        Samples.NOW.truncatedTo(ChronoUnit.SECONDS),
        Subject.tenant(new TenantId("acme")),
        ChangeType.TENANT_CHANGED,
        new Author("arn:aws:iam::1:user/\"ü", "request-1"),
        Map.of("tier", "gold"),
        Map.of("tier", "silver"));
  }

  @Test
  void an_entry_is_the_detail_of_an_event() throws Exception {
    services.on(
        PUT, request -> Answer.ok("{\"FailedEntryCount\":0,\"Entries\":[{\"EventId\":\"e\"}]}"));

    assertThat(aws.changeEvents().publish(List.of(entry("1")))).isEmpty();

    assertThat(services.requests(PUT))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"));
    JsonMapper json = new JsonMapper();
    JsonNode sent = json.readTree(services.requests(PUT).get(0).body()).at("/Entries/0");
    assertThat(sent.path("Source").asText()).isEqualTo("tollgate");
    assertThat(sent.path("DetailType").asText()).isEqualTo("TenantChanged");
    assertThat(sent.path("Time").asLong()).isEqualTo(Samples.NOW.getEpochSecond());
    JsonNode detail = json.readTree(sent.path("Detail").asText());
    assertThat(detail.path("id").asText()).isEqualTo("1");
    assertThat(detail.path("deployment").asText()).isEqualTo("Tollgate-blue");
    assertThat(detail.path("subject").asText()).isEqualTo("tenant/acme");
    assertThat(detail.path("by").asText()).isEqualTo("arn:aws:iam::1:user/\"ü");
    assertThat(detail.at("/from/tier").asText()).isEqualTo("gold");
    assertThat(detail.at("/to/tier").asText()).isEqualTo("silver");
  }

  @Test
  void refused_entries_are_named() {
    services.on(
        PUT,
        request ->
            Answer.ok(
                "{\"FailedEntryCount\":1,\"Entries\":[{\"EventId\":\"e\"},"
                    + "{\"ErrorCode\":\"InternalFailure\"},{\"EventId\":\"f\"}]}"));

    assertThat(aws.changeEvents().publish(List.of(entry("1"), entry("2"), entry("3"))))
        .containsExactly("2");
  }

  @Test
  void a_failed_request_is_not_repeated() {
    services.on(PUT, request -> Answer.failure(503, "ServiceUnavailable"));

    assertThatThrownBy(() -> aws.changeEvents().publish(List.of(entry("1"))))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("503");
    assertThat(services.requests(PUT)).hasSize(1);
  }

  @Test
  void an_answer_that_says_nothing_is_a_failure() {
    services.on(PUT, request -> Answer.ok("{}"));
    assertThatThrownBy(() -> aws.changeEvents().publish(List.of(entry("1"))))
        .isInstanceOf(Unavailable.class);

    services.on(PUT, request -> Answer.ok("<html>"));
    assertThatThrownBy(() -> aws.changeEvents().publish(List.of(entry("1"))))
        .isInstanceOf(Unavailable.class);
  }

  @Test
  void ten_entries_are_the_most() {
    assertThatThrownBy(() -> aws.changeEvents().publish(Collections.nCopies(11, entry("1"))))
        .isInstanceOf(InvalidValue.class);
  }
}

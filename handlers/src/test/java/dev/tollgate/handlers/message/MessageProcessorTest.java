package dev.tollgate.handlers.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.events.SQSBatchResponse;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.Action;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.ReturnSlots;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.message.Application;
import dev.tollgate.core.message.MessageProcessing;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.InMemoryMessageFacts;
import dev.tollgate.core.testing.memory.InMemoryMessageLog;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.LambdaEvents;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class MessageProcessorTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final AdmissionFixture fixture = new AdmissionFixture();
  private final RecordingSockets sockets = new RecordingSockets();
  private final InMemoryMessageLog log = new InMemoryMessageLog();
  private final Tenant acme =
      fixture.onboard("acme", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 3L));
  private final Tenant zeta = fixture.onboard("zeta", "gold", Map.of());
  private final SessionId session = fixture.open(acme);
  private final SessionId others = fixture.open(zeta);
  private final RecordingContext context = LambdaEvents.context();
  private Application application = (message, json) -> List.of(json);

  @BeforeEach
  void connect() {
    join(acme, session, "a");
    join(acme, session, "b");
    join(zeta, others, "z");
  }

  private void join(Tenant tenant, SessionId to, String connectionId) {
    fixture
        .sessions()
        .join(
            tenant.id(),
            to,
            connectionId,
            10,
            Gcra.perMinute(60),
            Optional.empty(),
            fixture.clock().instant(),
            fixture.clock().instant());
  }

  private SQSBatchResponse handle(SQSMessage... messages) {
    MessageProcessing processing =
        new MessageProcessing(
            new MessageProcessing.Rows(
                fixture.facts(),
                new InMemoryMessageFacts(
                    fixture.tenants(), fixture.sessions(), fixture.buckets(), log, fixture.clock()),
                fixture.sessions(),
                log),
            fixture.claims(),
            new ReturnSlots(fixture.buckets(), fixture.clock()),
            fixture.enforcement(),
            new MessageProcessing.Clients(
                sockets, new Disconnection(fixture.sessions()), new JsonFrames()),
            (message, json) -> application.handle(message, json),
            new MessageProcessing.Timing(Runnable::run, fixture.clock(), () -> 0));
    SQSEvent event = new SQSEvent();
    event.setRecords(List.of(messages));
    return new MessageProcessor(processing, new Metrics(fixture.clock()), Tracing.OFF)
        .handleRequest(event, context);
  }

  private static List<String> failures(SQSBatchResponse response) {
    return response.getBatchItemFailures().stream()
        .map(SQSBatchResponse.BatchItemFailure::getItemIdentifier)
        .toList();
  }

  private static SQSMessage record(String id, String group, String connectionId, String body) {
    SQSEvent.MessageAttribute connection = new SQSEvent.MessageAttribute();
    connection.setDataType("String");
    connection.setStringValue(connectionId);
    SQSMessage message = new SQSMessage();
    message.setMessageId(id);
    message.setBody(body);
    message.setAttributes(Map.of("MessageGroupId", group));
    message.setMessageAttributes(Map.of("connectionId", connection));
    return message;
  }

  private SQSMessage ofAcme(String id, String body) {
    return record(id, "acme:" + session, "a", body);
  }

  private SQSMessage ofZeta(String id, String body) {
    return record(id, "zeta:" + others, "z", body);
  }

  private List<JsonNode> counts() {
    return context.logged().stream()
        .filter(line -> line.contains("CloudWatchMetrics"))
        .map(MessageProcessorTest::json)
        .toList();
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException malformed) {
      throw new AssertionError(text, malformed);
    }
  }

  @Test
  void messages_with_the_mark_of_a_redrive_need_no_token() {
    SQSMessage[] redriven = new SQSMessage[5];
    for (int i = 0; i < redriven.length; i++) {
      redriven[i] = ofAcme("m" + i, "{\"message\":1}");
      SQSEvent.MessageAttribute mark = new SQSEvent.MessageAttribute();
      mark.setStringValue("true");
      Map<String, SQSEvent.MessageAttribute> attributes =
          new HashMap<>(redriven[i].getMessageAttributes());
      attributes.put("redriven", mark);
      redriven[i].setMessageAttributes(attributes);
    }

    assertThat(failures(handle(redriven))).isEmpty();

    assertThat(counts())
        .singleElement()
        .satisfies(count -> assertThat(count.path("Outcome").asText()).isEqualTo("PROCESSED"));
  }

  @Test
  void a_message_and_its_reply_keep_the_bytes_that_were_sent() {
    String message = "{ \"n\" : 1.0, \"n\":1e5, \"t\":\"😀 \\u00e9 & % + # \\\"q\\\" $input\" }";

    SQSBatchResponse response =
        handle(
            ofAcme("q1", "{\"action\":\"PooledSQS\",\"id\":\"i-1\",\"message\":" + message + "}"));

    assertThat(failures(response)).isEmpty();
    String passedOn = ",\"id\":\"i-1\",\"message\":" + message + "}";
    assertThat(sockets.postedTo("a")).containsExactly("{\"type\":\"reply\"" + passedOn);
    assertThat(sockets.postedTo("b"))
        .containsExactly("{\"type\":\"message\"" + passedOn, "{\"type\":\"reply\"" + passedOn);
  }

  @Test
  void a_message_without_id_gets_the_id_of_the_queue() {
    handle(ofAcme("q1", "{\"message\":1}"));

    assertThat(sockets.postedTo("a"))
        .containsExactly("{\"type\":\"reply\",\"id\":\"q1\",\"message\":1}");
  }

  @Test
  void a_repeated_message_is_processed_once_only_if_it_has_an_id() {
    String named = "{\"id\":\"i\",\"message\":1}";
    handle(ofAcme("q1", named));

    assertThat(failures(handle(ofAcme("q2", named), ofAcme("q3", "{\"message\":1}")))).isEmpty();

    assertThat(sockets.postedTo("a")).hasSize(2);
    assertThat(counts())
        .extracting(count -> count.path("Outcome").asText())
        .containsExactly("PROCESSED", "PROCESSED", "DUPLICATE");
  }

  @Test
  void a_message_that_cannot_be_recorded_counts_as_processed() {
    log.outage().begin();

    assertThat(failures(handle(ofAcme("q1", "{\"id\":\"i\",\"message\":1}")))).isEmpty();

    assertThat(context.logged())
        .contains("message q1 of acme: processed, but not logged: add: out of order");
  }

  @Test
  void a_failed_message_and_those_behind_it_in_its_session_are_returned() {
    application =
        (message, json) -> {
          if (json.equals("2")) {
            throw new IllegalStateException("no database");
          }
          return List.of();
        };

    SQSBatchResponse response =
        handle(
            ofAcme("q1", "{\"message\":1}"),
            ofAcme("q2", "{\"message\":2}"),
            ofZeta("q3", "{\"message\":3}"),
            ofAcme("q4", "{\"message\":4}"));

    assertThat(failures(response)).containsExactly("q2", "q4");
    assertThat(context.logged())
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("message q2 of acme: java.lang.IllegalStateException: no database")
                    .contains("\tat dev.tollgate.handlers.message.MessageProcessorTest"))
        .noneMatch(line -> line.contains(session.value()));
    assertThat(fixture.queue().level(new BucketId(acme.id(), Action.MESSAGE))).isEqualTo(2);
  }

  @Test
  void a_throttled_message_gets_an_error_frame_and_is_not_returned() {
    SQSMessage[] batch = new SQSMessage[4];
    for (int i = 0; i < 4; i++) {
      batch[i] = ofAcme("q" + i, "{\"message\":" + i + "}");
    }

    assertThat(failures(handle(batch))).isEmpty();

    JsonNode last = json(sockets.postedTo("a").get(3));
    assertThat(last)
        .isEqualTo(
            json(
                """
                {"type":"error","id":"q3","code":"THROTTLED",
                 "detail":"the tenant sent as many messages as messagesPerMinute allows",
                 "retryAfterSeconds":21}"""));
    assertThat(sockets.postedTo("b")).hasSize(6);
  }

  @Test
  void retry_after_is_rounded_up_to_at_least_one_second() {
    assertThat(
            json(new JsonFrames().throttled("i", Duration.ofMillis(1_001)))
                .at("/retryAfterSeconds")
                .asInt())
        .isEqualTo(2);
    assertThat(
            json(new JsonFrames().throttled("i", Duration.ofMillis(-5)))
                .at("/retryAfterSeconds")
                .asInt())
        .isEqualTo(1);
  }

  @Test
  void undelivered_frames_are_counted_and_logged_and_the_message_is_not_returned() {
    sockets.outage().begin("post to b");

    assertThat(failures(handle(ofAcme("q1", "{\"message\":1}"), ofAcme("q2", "{\"message\":2}"))))
        .isEmpty();

    assertThat(sockets.postedTo("a")).hasSize(2);
    assertThat(context.logged())
        .contains("message q1 of acme: 2 frames not delivered: post to b: out of order");
    assertThat(counts())
        .filteredOn(count -> count.has("UndeliveredFrames"))
        .containsExactly(
            json(
                """
                {"_aws":{"Timestamp":%d,"CloudWatchMetrics":[{"Namespace":"Tollgate",
                 "Dimensions":[[]],"Metrics":[{"Name":"UndeliveredFrames","Unit":"Count"}]}]},
                 "UndeliveredFrames":4,"tenantId":"acme"}"""
                    .formatted(fixture.clock().millis())));
  }

  @Test
  void an_invalid_frame_gets_an_error_frame_and_is_not_returned() {
    assertThat(failures(handle(ofAcme("q1", "{\"id\":\"i\",\"message\":\"say \"hi\"\"}"))))
        .isEmpty();

    JsonNode answer = json(sockets.postedTo("a").get(0));
    assertThat(answer.get("type").asText()).isEqualTo("error");
    assertThat(answer.get("id").asText()).isEqualTo("i");
    assertThat(answer.get("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(answer.get("detail").asText()).startsWith("frame: {\"id\":\"i\"").contains("JSON");
    assertThat(sockets.postedTo("b")).isEmpty();
  }

  @Test
  void an_invalid_record_cannot_leak_a_session_or_forge_a_log_line() {
    String upper = session.value().toUpperCase(Locale.ROOT);

    handle(
        record("q1", upper, "a", "{\"message\":1}"),
        record("q2", "acme:" + upper, "a", "{\"message\":1}"),
        record("q3", "ac\nme:" + session, "a", "{\"message\":1}"));

    assertThat(context.logged().stream().filter(line -> line.contains("dropped")))
        .hasSize(3)
        .allSatisfy(
            line ->
                assertThat(line.toLowerCase(Locale.ROOT))
                    .doesNotContain(session.value())
                    .doesNotContainPattern("\\p{Cntrl}"));
  }

  @Test
  void a_record_without_valid_sender_is_dropped() {
    SQSMessage unaddressed = ofAcme("q4", "{\"message\":1}");
    unaddressed.setMessageAttributes(Map.of());

    SQSBatchResponse response =
        handle(
            record("q1", "", "a", "{\"message\":1}"),
            record("q2", "acme", "a", "{\"message\":1}"),
            record("q3", "acme:short", "a", "{\"message\":1}"),
            unaddressed,
            record("q5", "nobody:" + session, "a", "{\"message\":1}"),
            ofAcme("q6", "{\"message\":1}"));

    assertThat(failures(response)).isEmpty();
    assertThat(sockets.postedTo("a")).hasSize(1);
    assertThat(counts())
        .extracting(
            count ->
                count.path("tenantId").asText()
                    + " "
                    + count.path("Outcome").asText()
                    + " "
                    + count.path("Messages").asInt())
        .containsExactlyInAnyOrder(" DROPPED 4", "nobody DROPPED 1", "acme PROCESSED 1");
  }

  @Test
  void counts_have_one_line_per_tenant_and_outcome() {
    handle(
        ofAcme("q1", "{\"message\":1}"),
        ofZeta("q2", "{\"message\":2}"),
        ofAcme("q3", "{\"message\":3}"),
        ofAcme("q4", "oops"));

    assertThat(counts()).hasSize(3);
    assertThat(counts().get(0))
        .isEqualTo(
            json(
                """
                {"_aws":{"Timestamp":%d,"CloudWatchMetrics":[{"Namespace":"Tollgate",
                 "Dimensions":[["Outcome"]],"Metrics":[{"Name":"Messages","Unit":"Count"}]}]},
                 "Outcome":"PROCESSED","Messages":2,"tenantId":"acme","connectionId":"a"}"""
                    .formatted(fixture.clock().millis())));
  }

  @Test
  void a_reply_that_is_not_json_fails_its_message() {
    application = (message, json) -> List.of("hello");

    assertThat(failures(handle(ofAcme("q1", "{\"message\":1}")))).containsExactly("q1");
  }

  @Test
  void the_longest_message_is_echoed() {
    String longest = "\"" + "x".repeat(130_000) + "\"";

    assertThat(failures(handle(ofAcme("q1", "{\"message\":" + longest + "}")))).isEmpty();

    assertThat(sockets.postedTo("a").get(0)).contains(longest);
  }

  @Test
  void a_missing_handler_class_fails_the_function_at_start() {
    Map<String, String> environment =
        Map.ofEntries(
            Map.entry("AWS_REGION", "eu-central-1"),
            Map.entry("AWS_ACCESS_KEY_ID", "id"),
            Map.entry("AWS_SECRET_ACCESS_KEY", "secret"),
            Map.entry("TENANT_TABLE", "t"),
            Map.entry("SESSION_TABLE", "s"),
            Map.entry("LIMIT_TABLE", "l"),
            Map.entry("QUEUE_URL_PREFIX", "http://localhost/"),
            Map.entry("TENANT_ROLE_ARN", "arn:aws:iam::000000000000:role/Tenant"),
            Map.entry("TOKEN_PRODUCER_ARN", "arn:aws:lambda:us-east-1:0:function:p:live"),
            Map.entry("WEBSOCKET_URL", "wss://localhost/production"),
            Map.entry("MESSAGE_HANDLER", "com.example.None"));

    assertThatThrownBy(() -> new MessageProcessor(environment, fixture.clock()))
        .hasMessageContaining("MESSAGE_HANDLER: class `com.example.None`");
  }
}

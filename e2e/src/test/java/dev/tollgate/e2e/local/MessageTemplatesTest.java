package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.gateway.mapping.MappingTemplate;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The stack's mapping templates, rendered from their files. */
class MessageTemplatesTest {
  private static final Path DIRECTORY =
      Path.of("../infra/src/main/resources/dev/tollgate/infra/templates");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ENTRY = "SendMessageBatchRequestEntry.1.";
  private static final ObjectNode CONTEXT = JSON.createObjectNode();

  static {
    CONTEXT.put("requestId", "Rq+1=").put("connectionId", "C&n=");
    CONTEXT.putObject("authorizer").put("tenantId", "acme").put("sessionId", "s1");
  }

  static List<String> bodies() {
    return List.of(
        "{}",
        "{\"message\":\"&MessageGroupId=x&SendMessageBatchRequestEntry.1.MessageGroupId=x\"}",
        "{\"message\":\"&SendMessageBatchRequestEntry.2.Id=x&QueueUrl=x&Action=DeleteQueue\"}",
        "{\"message\":\"&" + ENTRY + "MessageAttribute.2.Name=redriven\",\"redriven\":true}",
        "{\"message\":\"%26MessageGroupId%3Dx % %% %2\"}",
        "{\"message\":\"a+b a b\"}",
        "{\"message\":\"# ## #if #end #set($entry = 'x') #* *# #[[x]]#\"}",
        "{\"message\":\"\\\" ' \\\\ \\u0041 \\n\"}",
        "\r\n{\n\t\"message\" : 1 }\n\n",
        "{\"message\":\"\uD83D\uDE00 \u00e9 \u2028 \uFFFD\"}",
        "{\"message\":\"$input $input.body ${input.body} $!x $context.connectionId\"}",
        "{\"message\":\"$util.urlEncode(\\\"x\\\") $util.urlEncode('x')\"}",
        "{\"MessageGroupId\":\"x\",\"tenantId\":\"x\",\"sessionId\":\"x\",\"connectionId\":\"x\"}",
        "{\"message\":\"" + "&=%+#\u00e9".repeat(128 * 1024 / 7 - 3) + "\"}");
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void the_form_contains_the_frame_byte_for_byte_and_no_other_parameters(String body)
      throws IOException {
    assertThat(send(body)).isEqualTo(form("s", body));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "A_z-9",
        "--",
        "s",
        "null",
        "1234567890123456789012345678901234567890123456789012345678901234"
      })
  void a_repeated_frame_keeps_its_id_and_is_a_new_message_to_sqs(String id) throws IOException {
    String body = "{\"id\":\"" + id + "\"}";

    assertThat(send(body)).isEqualTo(form("c-" + id, body));
    assertThat(render("pool", success("c-" + id)))
        .isEqualTo("{\"type\":\"accepted\",\"id\":\"" + id + "\"}");
  }

  @Test
  void with_tracing_the_form_also_has_the_trace_header_of_a_sampled_handshake() throws IOException {
    String body = "{\"id\":\"a\",\"trace\":\"x\"}";
    String trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    ObjectNode sampled = CONTEXT.deepCopy();
    ((ObjectNode) sampled.get("authorizer")).put("trace", trace);
    Map<String, String> traced = form("c-a", body);
    traced.put(ENTRY + "MessageSystemAttribute.1.Name", "AWSTraceHeader");
    traced.put(ENTRY + "MessageSystemAttribute.1.Value.DataType", "String");
    traced.put(ENTRY + "MessageSystemAttribute.1.Value.StringValue", trace);
    String template = template("send-message") + template("trace");

    assertThat(parameters(MappingTemplate.render(template, body, sampled, Map.of()).strip()))
        .isEqualTo(traced);
    assertThat(parameters(rendered(template, body))).isEqualTo(form("c-a", body));
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "-1", "12345678901234567890", "true"})
  void an_id_of_another_type_becomes_its_text(String id) throws IOException {
    String body = "{\"id\":" + id + "}";

    assertThat(send(body)).isEqualTo(form("c-" + id, body));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"id\":null}", "{\"id\":\"\"}", "{\"ID\":\"a\"}"})
  void a_frame_without_id_is_identified_by_request_and_message(String body) throws IOException {
    assertThat(send(body)).isEqualTo(form("s", body));
    assertThat(render("pool", success("s"))).isEqualTo("{\"type\":\"accepted\",\"id\":\"0-1-2\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.5",
        "1e3",
        "[]",
        "{}",
        "[\"a\"]",
        "{\"a\":\"b\"}",
        "\" \"",
        "\"a b\"",
        "\"a&b\"",
        "\"a=b\"",
        "\"a:b\"",
        "\"a\\n\"",
        "\"\\n\"",
        "\"\\\"\"",
        "\"\u00e9\"",
        "\"$input.body\"",
        "\"#end\"",
        "\"12345678901234567890123456789012345678901234567890123456789012345\""
      })
  void an_invalid_id_results_in_an_entry_that_sqs_rejects(String id) throws IOException {
    String body = "{\"id\":" + id + "}";

    assertThat(send(body)).isEqualTo(form("!", body));
  }

  @ParameterizedTest
  @CsvSource({"true, BAD_FRAME", "false, UNAVAILABLE"})
  void a_failed_entry_is_an_error(boolean senderFault, String code) throws IOException {
    assertThat(code("pool", failure(senderFault))).isEqualTo(code);
    assertThat(code("silo", failure(senderFault))).isEqualTo(code);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[]",
        "{\"SendMessageBatchResponse\":null}",
        "{\"message\":\"Service Unavailable\"}",
        "{\"Error\":{\"Code\":\"\",\"Type\":\"Sender\"}}"
      })
  void a_message_that_is_not_known_to_be_in_the_queue_is_sent_again_with_its_id(String answer)
      throws IOException {
    assertThat(code("pool", answer)).isEqualTo("UNAVAILABLE");
    assertThat(render("silo", answer)).contains("UNAVAILABLE", "with the same id");
  }

  /** How the templates find values: at definite paths, and by a scan at any depth. */
  @ParameterizedTest
  @CsvSource({"$.., $.nowhere.", "$.SendMessageBatchResponse, $.nowhere", "$.Error, $.nowhere"})
  void one_way_to_find_a_value_is_enough(String unsupported, String nowhere) throws IOException {
    String pool = template("pool").replace(unsupported, nowhere);
    String silo = template("silo").replace(unsupported, nowhere);
    assertThat(rendered(pool, success("c-a"))).isEqualTo("{\"type\":\"accepted\",\"id\":\"a\"}");
    assertThat(rendered(pool, success("c-a").replace("\"Id\"", "\"pId\"")))
        .isEqualTo("{\"type\":\"accepted\",\"id\":\"a\"}");
    assertThat(rendered(pool, success("s"))).isEqualTo("{\"type\":\"accepted\",\"id\":\"0-1-2\"}");
    assertThat(rendered(pool, failure(true))).contains("BAD_FRAME");
    assertThat(rendered(pool, failure(false))).contains("UNAVAILABLE");
    String refusal = refusal("AWS.SimpleQueueService.NonExistentQueue");
    assertThat(rendered(silo, refusal)).contains("NOT_SILO");
    assertThat(rendered(pool, refusal)).contains("UNAVAILABLE");
  }

  /** SQS's XML turned into JSON, in some nestings, and the answer of its JSON protocol. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"R\":{\"Metadata\":{\"RequestId\":\"r\"},\"Failed\":null,\"Result\":[%s]}}",
        "{\"R\":{\"Metadata\":{\"RequestId\":\"r\"},\"Failed\":null,\"Result\":%s}}",
        "{\"R\":{\"Result\":{\"SendMessageBatchResultEntry\":[%s]}}}",
        "{\"SendMessageBatchResponse\":{\"SendMessageBatchResult\":{\"Failed\":null,\"Successful\":[%s]}}}",
        "{\"Successful\":[%s]}",
        "{\"Successful\":[%s],\"Failed\":[]}"
      })
  void a_response_is_accepted_in_each_nesting(String nesting) throws IOException {
    Map<String, String> frames = new LinkedHashMap<>();
    frames.put("{\"Id\":\"c-a\",\"MessageId\":\"0-1-2\"}", "a");
    frames.put("{\"pId\":\"c-a\",\"MessageId\":\"0-1-2\"}", "a");
    frames.put("{\"pId\":\"s\",\"MessageId\":\"0-1-2\"}", "0-1-2");
    for (Map.Entry<String, String> frame : frames.entrySet()) {
      assertThat(render("pool", nesting.formatted(frame.getKey())))
          .isEqualTo("{\"type\":\"accepted\",\"id\":\"" + frame.getValue() + "\"}");
    }
    assertThat(render("silo", nesting.formatted("{\"Id\":null,\"MessageId\":\"0-1-2\"}")))
        .isEqualTo("{\"type\":\"accepted\"}");
  }

  @ParameterizedTest
  @CsvSource({
    "AWS.SimpleQueueService.NonExistentQueue, NOT_SILO, UNAVAILABLE",
    "QueueDoesNotExist, NOT_SILO, UNAVAILABLE",
    "AccessDenied, NOT_SILO, UNAVAILABLE",
    "AccessDeniedException, NOT_SILO, UNAVAILABLE",
    "RequestThrottled, UNAVAILABLE, UNAVAILABLE",
    "ThrottlingException, UNAVAILABLE, UNAVAILABLE",
    "InvalidClientTokenId, UNAVAILABLE, UNAVAILABLE",
    "InternalError, UNAVAILABLE, UNAVAILABLE",
    "ServiceUnavailable, UNAVAILABLE, UNAVAILABLE",
    "AWS.SimpleQueueService.InvalidBatchEntryId, BAD_FRAME, BAD_FRAME",
    "AWS.SimpleQueueService.BatchRequestTooLong, BAD_FRAME, BAD_FRAME",
    "InvalidMessageContents, BAD_FRAME, BAD_FRAME",
    "InvalidParameterValue, BAD_FRAME, BAD_FRAME",
    "MissingParameter, BAD_FRAME, BAD_FRAME"
  })
  void a_rejected_request_has_its_own_error_code_in_each_shape(
      String code, String silo, String pool) throws IOException {
    for (String answer :
        List.of(
            refusal(code),
            "{\"ErrorResponse\":" + refusal(code) + "}",
            "{\"__type\":\"com.amazonaws.sqs#" + code + "\",\"message\":\"m\"}")) {
      assertThat(code("silo", answer)).isEqualTo(silo);
      assertThat(code("pool", answer)).isEqualTo(pool);
    }
  }

  /** The answers of SQS in {@code docs/aws-answers}, assumed or recorded on AWS. */
  @ParameterizedTest
  @CsvSource({
    "sqs-failed-entry, BAD_FRAME, BAD_FRAME",
    "sqs-malformed-id, BAD_FRAME, BAD_FRAME",
    "sqs-missing-queue, NOT_SILO, UNAVAILABLE",
    "sqs-denied, NOT_SILO, UNAVAILABLE"
  })
  void an_answer_of_sqs_has_its_error_code(String question, String silo, String pool)
      throws IOException {
    assertThat(code("silo", bodyOf(question))).isEqualTo(silo);
    assertThat(code("pool", bodyOf(question))).isEqualTo(pool);
  }

  @Test
  void an_answer_of_sqs_accepts_the_frame() throws IOException {
    assertThat(render("pool", bodyOf("sqs-success")))
        .isEqualTo("{\"type\":\"accepted\",\"id\":\"m1\"}");
  }

  private static String bodyOf(String question) throws IOException {
    return JSON.readTree(Path.of("../docs/aws-answers", question + ".json").toFile())
        .at("/answer/body")
        .toString();
  }

  @Test
  void other_errors_need_no_body() throws IOException {
    assertThat(code("unknown-action", "not JSON")).isEqualTo("BAD_FRAME");
    assertThat(JSON.readTree(render("mock", "not JSON")).path("statusCode").asInt()).isEqualTo(200);
  }

  private static String success(String entry) {
    return "{\"SendMessageBatchResponse\":{\"ResponseMetadata\":{\"RequestId\":\"r\"},"
        + "\"SendMessageBatchResult\":{\"Failed\":[],\"Successful\":[{\"Id\":\""
        + entry
        + "\",\"MD5OfMessageBody\":\"5d\",\"MessageId\":\"0-1-2\",\"SequenceNumber\":\"1\"}]}}}";
  }

  private static String failure(boolean senderFault) {
    return "{\"SendMessageBatchResponse\":{\"SendMessageBatchResult\":{\"Successful\":[],"
        + "\"Failed\":[{\"Id\":\"c-a\",\"Code\":\"x\",\"Message\":\"y\",\"SenderFault\":"
        + senderFault
        + "}]}}}";
  }

  private static String refusal(String code) {
    return "{\"Error\":{\"Code\":\""
        + code
        + "\",\"Message\":\"m\",\"Type\":\"Sender\"},\"RequestId\":\"r\"}";
  }

  private static Map<String, String> form(String id, String body) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("Action", "SendMessageBatch");
    form.put("Version", "2012-11-05");
    form.put(ENTRY + "Id", id);
    form.put(ENTRY + "MessageBody", body);
    form.put(ENTRY + "MessageGroupId", "acme:s1");
    form.put(ENTRY + "MessageDeduplicationId", "Rq+1=");
    form.put(ENTRY + "MessageAttribute.1.Name", "connectionId");
    form.put(ENTRY + "MessageAttribute.1.Value.DataType", "String");
    form.put(ENTRY + "MessageAttribute.1.Value.StringValue", "C&n=");
    return form;
  }

  /** The decoded form parameters of a frame; fails if a name occurs twice. */
  private static Map<String, String> send(String body) throws IOException {
    return parameters(render("send-message", body));
  }

  private static Map<String, String> parameters(String rendered) {
    assertThat(rendered).matches("[\\x21-\\x7e]+");
    Map<String, String> form = new LinkedHashMap<>();
    for (String pair : rendered.split("&", -1)) {
      String[] parts = pair.split("=", -1);
      assertThat(parts).hasSize(2);
      assertThat(form.put(decoded(parts[0]), decoded(parts[1]))).isNull();
    }
    return form;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  private static String code(String template, String body) throws IOException {
    JsonNode answer = JSON.readTree(render(template, body));
    assertThat(answer.path("type").asText()).isEqualTo("error");
    assertThat(answer.path("detail").asText()).isNotEmpty();
    return answer.path("code").asText();
  }

  private static String render(String template, String body) throws IOException {
    return rendered(template(template), body);
  }

  /** A template; for {@code pool} and {@code silo}, the one that answers frames. */
  private static String template(String name) throws IOException {
    String rest = name.equals("pool") || name.equals("silo") ? template("answer") : "";
    return Files.readString(DIRECTORY.resolve(name + ".vtl")) + rest;
  }

  private static String rendered(String template, String body) {
    return MappingTemplate.render(template, body, CONTEXT, Map.of()).strip();
  }
}

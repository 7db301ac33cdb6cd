package dev.tollgate.cli.logs;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LogLineTest {
  private static final Instant TIME = Instant.parse("2026-03-12T14:03:22.120Z");

  private static Optional<LogLine> parse(String message) {
    return LogLine.of(new LogEvent("1", TIME, "Authorizer", message));
  }

  private static LogLine line(String message) {
    return parse(message).orElseThrow();
  }

  /** A line as the functions write it. */
  private static String metric(String metrics, String unit, String values) {
    StringBuilder declared = new StringBuilder();
    for (String name : metrics.split(" ", -1)) {
      declared
          .append(declared.isEmpty() ? "" : ",")
          .append("{\"Name\":\"%s\",\"Unit\":\"%s\"}".formatted(name, unit));
    }
    return ("{\"_aws\":{\"Timestamp\":1773324202120,\"CloudWatchMetrics\":[{\"Namespace\":\"Tollgate\","
            + "\"Dimensions\":[[]],\"Metrics\":[%s]}]},%s}")
        .formatted(declared, values);
  }

  private static String handshake(String outcome) {
    return metric(
        "Connections",
        "Count",
        "\"Connections\":1,\"tenantId\":\"acme\",\"Outcome\":\"" + outcome + "\"");
  }

  private static String messages(int count, String outcome) {
    return metric(
        "Messages",
        "Count",
        "\"Messages\":%d,\"tenantId\":\"acme\",\"connectionId\":\"a= b=\",\"Outcome\":\"%s\""
            .formatted(count, outcome));
  }

  @Test
  void text_is_time_function_level_and_what_happened() {
    assertThat(line(handshake("TENANT_RATE")).text(12))
        .isEqualTo(
            "2026-03-12T14:03:22.120Z  Authorizer    handshake refused: TENANT_RATE tenant=acme");
    assertThat(line("Task timed out after 3.00 seconds").text(10))
        .isEqualTo("2026-03-12T14:03:22.120Z  Authorizer  ERROR Task timed out after 3.00 seconds");
  }

  @ParameterizedTest
  @CsvSource({
    "ADMITTED, handshake admitted, INFO",
    "ADMITTED_WITHOUT_TOKEN, handshake admitted: ADMITTED_WITHOUT_TOKEN, WARN",
    "WOULD_REFUSE, handshake admitted: WOULD_REFUSE, INFO",
    "WOULD_REFUSE, handshake admitted: WOULD_REFUSE, INFO",
    "SESSION_CONNECTIONS, handshake refused: SESSION_CONNECTIONS, INFO",
    "UNDECIDED, handshake refused: UNDECIDED, ERROR",
    "LEASE_ENDED, handshake refused: LEASE_ENDED, ERROR"
  })
  void handshakes_have_a_decision_and_a_reason(String outcome, String what, Level level) {
    LogLine line = line(handshake(outcome));

    assertThat(line.what()).isEqualTo(what + " tenant=acme");
    assertThat(line.level()).isEqualTo(level);
  }

  @Test
  void connections_and_failures_are_properties() {
    assertThat(
            line(metric(
                    "Connections",
                    "Count",
                    "\"Connections\":1,\"tenantId\":\"acme\",\"connectionId\":\"KxPq=\","
                        + "\"failure\":\"SQS: \\\"no\\\"\",\"Outcome\":\"UNDECIDED\""))
                .what())
        .isEqualTo(
            "handshake refused: UNDECIDED tenant=acme connectionId=KxPq= failure=\"SQS: \\\"no\\\"\"");
  }

  @Test
  void messages_are_counted() {
    assertThat(line(messages(1, "PROCESSED")).what())
        .isEqualTo("1 message: PROCESSED tenant=acme connectionId=\"a= b=\"");
    assertThat(line(messages(3, "FAILED")).what()).startsWith("3 messages: FAILED tenant=acme");
    assertThat(line(messages(3, "FAILED")).level()).isEqualTo(Level.ERROR);
    assertThat(line(messages(1, "PROCESSED_WITHOUT_TOKEN")).level()).isEqualTo(Level.WARN);
  }

  @Test
  void measurements_have_their_units() {
    assertThat(
            line(metric(
                    "FillDelay",
                    "Milliseconds",
                    "\"FillDelay\":812,\"tenantId\":\"acme\",\"fill\":\"connect: 60 sent\""))
                .what())
        .isEqualTo("FillDelay 812 ms tenant=acme fill=\"connect: 60 sent\"");
    assertThat(
            line(metric(
                    "SessionsEnded Drift",
                    "Count",
                    "\"SessionsEnded\":2,\"Drift\":-1,\"tenantId\":\"acme\""))
                .what())
        .isEqualTo("SessionsEnded 2, Drift -1 tenant=acme");
  }

  @Test
  void failed_requests_for_credentials_are_errors() {
    LogLine line =
        line(
            metric(
                "CredentialFailures",
                "Count",
                "\"CredentialFailures\":3,\"Source\":\"STS\",\"reason\":\"denied\""));

    assertThat(line.what()).isEqualTo("CredentialFailures 3 Source=STS reason=denied");
    assertThat(line.level()).isEqualTo(Level.ERROR);
  }

  @ParameterizedTest
  @CsvSource({
    "swept: 3 tenants, INFO",
    "tenant acme: pending: queue, WARN",
    "sockets stay open: later, WARN",
    "java.lang.IllegalStateException: x, ERROR"
  })
  void other_text_has_a_level_by_its_words(String text, Level level) {
    assertThat(line(text).what()).isEqualTo(text);
    assertThat(line(text).level()).isEqualTo(level);
  }

  @Test
  void text_of_several_lines_is_shown_by_its_first_line() {
    LogLine line = line("failed: x\n\tat a\n\tat b\n");

    assertThat(line.what()).isEqualTo("failed: x [2 more lines]");
    assertThat(line.document())
        .hasToString(
            "{\"time\":\"2026-03-12T14:03:22.120Z\",\"function\":\"Authorizer\",\"level\":\"WARN\","
                + "\"what\":\"failed: x [2 more lines]\",\"message\":\"failed: x\\n\\tat a\\n\\tat b\"}");
  }

  @Test
  void json_has_metrics_and_properties() {
    assertThat(line(handshake("ADMITTED")).document())
        .hasToString(
            "{\"time\":\"2026-03-12T14:03:22.120Z\",\"function\":\"Authorizer\",\"level\":\"INFO\","
                + "\"what\":\"handshake admitted tenant=acme\",\"Connections\":1,\"tenantId\":\"acme\","
                + "\"Outcome\":\"ADMITTED\"}");
  }

  @Test
  void json_of_a_message_handler_is_text() {
    assertThat(line("{\"a\":1}").what()).isEqualTo("{\"a\":1}");
    assertThat(line("{\"_aws\":1}").what()).isEqualTo("{\"_aws\":1}");
    assertThat(line("{\"_aws\":{\"Cl").what()).isEqualTo("{\"_aws\":{\"Cl");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "START RequestId: 8f0b Version: 3",
        "END RequestId: 8f0b",
        "REPORT RequestId: 8f0b\tDuration: 3.2 ms",
        "INIT_START Runtime Version: java:25",
        "RESTORE_REPORT Restore Duration: 612.10 ms",
        " \n"
      })
  void lines_of_lambda_are_left_out(String message) {
    assertThat(parse(message)).isEmpty();
  }

  @Test
  void session_ids_are_hidden() {
    String id = "0123456789abcdef0123456789ABCDEF";

    assertThat(line("session " + id + " not ended").text(1))
        .endsWith("WARN session [hidden] not ended");
    assertThat(
            line(metric("SlotWait", "Milliseconds", "\"SlotWait\":1,\"x\":\"%s\"".formatted(id)))
                .document()
                .toString())
        .doesNotContain(id)
        .contains("[hidden]");
  }

  @Test
  void a_tenants_id_that_looks_like_a_session_is_shown_and_found() {
    String id = "3f2504e04f8911d39a0c0305e82c3301";
    LogLine line =
        line(
            metric(
                "Connections",
                "Count",
                "\"Connections\":1,\"tenantId\":\"%s\",\"failure\":\"\\u0061%s\",\"Outcome\":\"ADMITTED\""
                    .formatted(id, id.substring(1))));

    assertThat(line.isAbout(id)).isTrue();
    assertThat(line.text(10)).endsWith("handshake admitted tenant=" + id + " failure=[hidden]");
    assertThat(line("message 1 of " + id + ": failed").isAbout(id)).isTrue();
    assertThat(line("message 1 of " + id + ": failed").text(10)).doesNotContain(id);
  }

  @Test
  void a_metric_line_is_about_the_tenant_it_names() {
    LogLine line = line(handshake("ADMITTED"));

    assertThat(line.isAbout("acme")).isTrue();
    assertThat(line.isAbout("handshake")).isFalse();
    assertThat(line.isAbout("acm")).isFalse();
  }

  @Test
  void text_is_about_the_tenants_it_names_as_functions_do() {
    assertThat(line("tenant acme: pending: queue").isAbout("acme")).isTrue();
    assertThat(line("bucket connect_acme: failed").isAbout("acme")).isTrue();
    assertThat(line("STS AssumeRole for acme: denied").isAbout("acme")).isTrue();
    assertThat(line("swept: 3 acme").isAbout("acme")).isFalse();
    assertThat(line("tenant queue: pending: the lines of acme").isAbout("pending")).isFalse();
    assertThat(line("tenant acme-2: pending").isAbout("acme")).isFalse();
    assertThat(line("message m of acme: failed").isAbout("acme")).isTrue();
    assertThat(line("message m of acme-2: failed").isAbout("acme")).isFalse();
    assertThat(line("message m of big-acme: failed").isAbout("acme")).isFalse();
  }
}

package dev.tollgate.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.LocalAccess;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command against a local cloud that is scripted. */
class TraceCommandTest {
  private static final String ID = "L0SM9cOFvHcCIhw=";
  private static final String TRACE = "1-69b2c4a0-bd862e3fe1be46a994272793";
  private static final String SUMMARIES = "POST /TraceSummaries";
  private static final String TRACES = "POST /Traces";

  @TempDir private Path directory;
  private StubDeployment deployment;
  private Path outputs;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
    outputs = directory.resolve(Outputs.DEFAULT);
    Files.writeString(
        outputs,
        Files.readString(outputs)
            .replace("\"SessionURL\"", "\"Tracing\":\"X-Ray\",\"SessionURL\""));
    Files.write(
        outputs.resolveSibling(LocalAccess.FILE),
        List.of(
            "AWS_ACCESS_KEY_ID=AKIA",
            "AWS_SECRET_ACCESS_KEY=secret",
            "AWS_SESSION_TOKEN=token",
            "AWS_REGION=us-east-1",
            "AWS_ENDPOINT_URL=" + deployment.uri()));
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private void finds(String... ids) {
    List<String> summaries = new ArrayList<>();
    for (String id : ids) {
      summaries.add("{\"Id\":\"" + id + "\"}");
    }
    deployment.answers(
        SUMMARIES, 200, "{\"TraceSummaries\":[" + String.join(",", summaries) + "]}");
  }

  private void page(String next, String... documents) {
    List<String> segments = new ArrayList<>();
    for (String document : documents) {
      segments.add(Json.write(Json.object().put("Document", document)));
    }
    deployment.answers(
        TRACES,
        200,
        "{\"Traces\":[{\"Id\":\"%s\",\"Segments\":[%s]}]%s}"
            .formatted(TRACE, String.join(",", segments), next));
  }

  private void handshake() {
    finds(TRACE);
    page(
        ",\"NextToken\":\"t\"",
        """
        {"name":"Connect","id":"c","parent_id":"a","start_time":1000.05,"end_time":1000.0701,
         "annotations":{"outcome":"ADMITTED"},
         "subsegments":[{"name":"Sqs","id":"3","start_time":1000.051,"in_progress":true,
                         "aws":{"operation":"DeleteMessageBatch"}}]}
        """);
    page(
        "",
        """
        {"name":"Authorizer","id":"a","parent_id":"elsewhere","start_time":1000.0,"end_time":1000.04,
         "annotations":{"outcome":"ALLOWED"},
         "subsegments":[{"name":"Sqs","id":"2","start_time":1000.002,"end_time":1000.012,"fault":true,
                         "http":{"response":{"status":503}},"aws":{"operation":"ReceiveMessage"}},
                        {"name":"DynamoDb","id":"1","start_time":1000.001,"end_time":1000.01,
                         "http":{"response":{"status":200}},"aws":{"operation":"BatchGetItem"}}]}
        """);
  }

  @Test
  void a_trace_is_a_tree_of_segments_in_the_order_of_their_starts() {
    handshake();

    Run run = deployment.run("trace", ID);

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            Trace 1-69b2c4a0-bd862e3fe1be46a994272793
               START ms    TOOK ms
                    0.0       40.0  Authorizer ALLOWED
                    1.0        9.0    DynamoDb BatchGetItem 200
                    2.0       10.0    Sqs ReceiveMessage 503 FAULT
                   50.0       20.1    Connect ADMITTED
                   51.0          -      Sqs DeleteMessageBatch
            """);
    assertThat(Json.valueOf(deployment.requests().get(0).body()).path("FilterExpression").asText())
        .isEqualTo("annotation.connectionId = \"" + ID + "\"");
    assertThat(deployment.requests().get(1).body()).isEqualTo("{\"TraceIds\":[\"" + TRACE + "\"]}");
    assertThat(deployment.requests().get(2).body()).contains("\"NextToken\":\"t\"");
  }

  @Test
  void as_json_the_tree_is_a_document() {
    handshake();

    Run run = deployment.run("trace", ID, "-o", "json");

    assertThat(Json.valueOf(run.out()).at("/traces/0/segments"))
        .isEqualTo(
            Json.valueOf(
                """
                [{"name": "Authorizer", "startMs": 0.0, "durationMs": 40.0, "outcome": "ALLOWED",
                  "segments": [
                    {"name": "DynamoDb", "startMs": 1.0, "durationMs": 9.0,
                     "operation": "BatchGetItem", "status": 200},
                    {"name": "Sqs", "startMs": 2.0, "durationMs": 10.0,
                     "operation": "ReceiveMessage", "status": 503, "fault": true},
                    {"name": "Connect", "startMs": 50.0, "durationMs": 20.1, "outcome": "ADMITTED",
                     "segments": [{"name": "Sqs", "startMs": 51.0,
                                   "operation": "DeleteMessageBatch"}]}]}]
                """));
  }

  @Test
  void a_long_time_is_searched_from_its_end_in_frames_of_six_hours() {
    finds();
    finds();
    finds();
    finds();
    finds();

    Run run = deployment.run("trace", ID, "--since", "1d");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("No trace of connection " + ID + " since ");
    List<long[]> frames = new ArrayList<>();
    for (StubDeployment.Request request : deployment.requests()) {
      frames.add(
          new long[] {
            Json.valueOf(request.body()).path("StartTime").asLong(),
            Json.valueOf(request.body()).path("EndTime").asLong()
          });
    }
    assertThat(frames).hasSize(5);
    for (int i = 1; i < frames.size(); i++) {
      assertThat(frames.get(i)[1]).isEqualTo(frames.get(i - 1)[0]);
    }
    assertThat(frames).allSatisfy(each -> assertThat(each[1] - each[0]).isBetween(1L, 21_600L));
    assertThat(frames.get(0)[1] - frames.get(4)[0]).isEqualTo(86_460);
  }

  @Test
  void without_the_option_one_sentence_says_so() throws IOException {
    Files.writeString(outputs, Files.readString(outputs).replace("\"Tracing\":\"X-Ray\",", ""));

    Run run = deployment.run("trace", ID);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("records no traces. Deploy it with the option `tracing=true`.");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_refused_request_is_a_failure_with_its_reason() {
    deployment.answers(SUMMARIES, 403, "{\"Message\":\"not allowed\"}");

    Run run = deployment.run("trace", ID);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("Cannot read traces from X-Ray: 403 not allowed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\" OR annotation.a = \"b", "a b"})
  void an_id_that_no_connection_has_is_refused(String id) {
    Run run = deployment.run("trace", id);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("CONNECTION_ID: ");
    assertThat(deployment.requests()).isEmpty();
  }
}

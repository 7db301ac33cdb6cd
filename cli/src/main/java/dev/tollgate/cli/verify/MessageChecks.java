package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.verify.Inventory.Tier;
import dev.tollgate.cli.verify.Trial.Connected;
import dev.tollgate.cli.verify.Trial.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Checks of messages. They look at what the other sockets of a session receive, because replies
 * depend on the application's handler.
 */
final class MessageChecks {
  private static final String POOL = "PooledSQS";
  private static final String SILO = "SiloSQS";

  /** JSON texts that a parser, a mapping template or a form encoding would change. */
  private static final List<String> BODIES =
      List.of(
          "\"a&MessageGroupId=x&MessageBody=y\"",
          "\"100% + 1 # 2 ? / \\\\ ; = %26%2B%00\"",
          "\"quotes \\\" and ' and \\n newlines\\r\\n\\t\"",
          "\"Grüße, 日本語, \uD83D\uDE80, \\ud83d\\ude80\"",
          "\"$input $util.urlEncode('x') #set($a = 1) #foreach ${x} ##\"",
          "{ \"b\" : [1.0, 1e5, -0, 12345678901234567890.123],\n  \"a\":null, \"a\": true }",
          "null",
          "\"\"",
          "\"" + "x".repeat(7_000) + "\"");

  private static final int NUMBERED = 20;

  private MessageChecks() {}

  static List<Check> all() {
    return List.of(
        new Check(
            "pool",
            "Messages through the shared queue reach the session's sockets byte for byte, in"
                + " order, once.",
            Duration.ofSeconds(20),
            trial -> exchange(trial, Tier.POOL, POOL, trial.bounds().frame())),
        new Check(
            "silo",
            "Messages through the tenant's own queue reach the session's sockets byte for byte, in"
                + " order, once.",
            Duration.ofSeconds(90),
            trial -> exchange(trial, Tier.SILO, SILO, trial.bounds().firstSiloFrame())),
        new Check(
            "answers",
            "Each frame is answered: accepted with its id, or an error that says why.",
            Duration.ofSeconds(60),
            MessageChecks::answers));
  }

  private static String frame(String action, String id, String message) {
    return "{\"action\":\"%s\",\"id\":\"%s\",\"message\":%s}".formatted(action, id, message);
  }

  private static void exchange(Trial trial, Tier tier, String action, Duration firstFrame) {
    String tenant = trial.onboard("", tier, Map.of());
    Session session = trial.session(tenant);
    Connected sender = trial.connect(session);
    Connected receiver = trial.connect(session);
    List<String> bodies =
        Stream.concat(BODIES.stream(), IntStream.range(0, NUMBERED).mapToObj(String::valueOf))
            .toList();
    trial.did("send " + bodies.size() + " messages with action " + action);
    List<String> expected = new ArrayList<>();
    long start = trial.nanoTime();
    for (int i = 0; i < bodies.size(); i++) {
      String id = "m-" + i;
      // One after another, because frames are processed in the order in which they are accepted.
      sender.send(frame(action, id, bodies.get(i)));
      List<String> accepted = sender.client().await("accepted", i + 1, trial.bounds().frame());
      trial.expect(
          "answer to frame " + id,
          "{\"type\":\"accepted\",\"id\":\"" + id + "\"}",
          accepted.size() > i ? accepted.get(i).strip() : "none; " + sender.client().frames());
      expected.add(
          "{\"type\":\"message\",\"id\":\"%s\",\"message\":%s}".formatted(id, bodies.get(i)));
    }
    receiver.client().await("message", 1, firstFrame);
    trial.figure("first message at the other socket after", trial.since(start));
    List<String> arrived =
        receiver.client().await("message", bodies.size(), trial.bounds().frame());
    trial.figure("messages", bodies.size());
    trial.expect("messages at the other socket", expected, arrived);
  }

  private static void answers(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    Connected client = trial.connect(trial.session(tenant));
    expectAnswer(trial, client, frame(POOL, "named", "1"), "accepted", "named");
    JsonNode unnamed =
        expectAnswer(trial, client, "{\"action\":\"PooledSQS\",\"message\":1}", "accepted", "");
    trial.expect("id given to a frame without id", true, !unnamed.path("id").asText().isEmpty());
    expectAnswer(trial, client, frame(SILO, "lost", "1"), "error", "NOT_SILO");
    expectAnswer(trial, client, frame("Nowhere", "n", "1"), "error", "BAD_FRAME");
    expectAnswer(trial, client, "not json", "error", "BAD_FRAME");
    expectAnswer(trial, client, frame(POOL, "no such & id", "1"), "error", "BAD_FRAME");
    throttled(trial);
  }

  /**
   * Sends a frame, and returns the next frame of the expected type.
   *
   * @param value the expected id or error code; empty for any
   */
  private static JsonNode expectAnswer(
      Trial trial, Connected client, String frame, String type, String value) {
    trial.did("send " + frame);
    int before = client.client().frames(type).size();
    client.send(frame);
    List<String> answers = client.client().await(type, before + 1, trial.bounds().frame());
    if (answers.size() <= before) {
      throw new Broken("answer to " + frame, type + " " + value, "none");
    }
    JsonNode answer = Json.parse(answers.get(before)).orElseThrow();
    if (!value.isEmpty()) {
      trial.expect(
          "answer to " + frame, value, answer.path(type.equals("error") ? "code" : "id").asText());
    }
    return answer;
  }

  /** A message over the limit is refused with a time, and accepted at that time. */
  private static void throttled(Trial trial) {
    int rate = 2;
    String tenant = trial.onboard("-few", Tier.POOL, Map.of("messagesPerMinute", rate));
    Session session = trial.session(tenant);
    Connected sender = trial.connect(session);
    Connected receiver = trial.connect(session);
    for (int i = 0; i < rate; i++) {
      sender.send(frame(POOL, "m-" + i, "1"));
    }
    receiver.client().await("message", rate, trial.bounds().frame());
    JsonNode error = expectAnswer(trial, sender, frame(POOL, "late", "1"), "error", "THROTTLED");
    long retryAfter = error.path("retryAfterSeconds").asLong(-1);
    trial.figure("retryAfterSeconds of THROTTLED", retryAfter);
    trial.expectBetween("retryAfterSeconds", 1, 60 / rate + 2, retryAfter);
    trial.pause(Duration.ofSeconds(retryAfter));
    sender.send(frame(POOL, "late", "1"));
    trial.expect(
        "messages processed after retryAfterSeconds",
        rate + 1,
        receiver.client().await("message", rate + 1, trial.bounds().frame()).size());
  }
}

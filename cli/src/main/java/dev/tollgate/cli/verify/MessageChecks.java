package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.verify.Inventory.Tier;
import dev.tollgate.cli.verify.Trial.Connected;
import dev.tollgate.cli.verify.Trial.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
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

  /** The most characters of a frame in the report. */
  private static final int SHOWN = 200;

  /** Begins the ids of messages that only find out whether a queue takes messages. */
  private static final String PROBE = "probe-";

  private static final String NO_MESSAGES = "The routes of an attached API are the application's.";

  private MessageChecks() {}

  static List<Check> all() {
    return List.of(
        new Check(
            "pool",
            "Messages through the shared queue reach the session's sockets byte for byte, in"
                + " order, once, and so do pushes.",
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
            MessageChecks::answers),
        new Check(
            "push",
            "A push to all sessions of a tenant reaches each open socket once, although it is"
                + " requested twice.",
            Duration.ofSeconds(15),
            MessageChecks::pushedToAll));
  }

  private static String frame(String action, String id, String message) {
    return "{\"action\":\"%s\",\"id\":\"%s\",\"message\":%s}".formatted(action, id, message);
  }

  private static void exchange(Trial trial, Tier tier, String action, Duration firstFrame) {
    trial.requireOwnApi(NO_MESSAGES);
    String tenant = trial.onboard("", tier, Map.of());
    Session session = trial.session(tenant);
    Connected sender = trial.connect(session);
    Connected receiver = trial.connect(session);
    List<String> bodies =
        Stream.concat(BODIES.stream(), IntStream.range(0, NUMBERED).mapToObj(String::valueOf))
            .toList();
    awaitQueue(trial, sender, action);
    trial.did("send " + bodies.size() + " messages with action " + action);
    List<String> expected = new ArrayList<>();
    int before = sender.client().answers().size();
    long start = trial.nanoTime();
    for (int i = 0; i < bodies.size(); i++) {
      String id = "m-" + i;
      // One after another, because frames are processed in the order in which they are accepted.
      sender.send(frame(action, id, bodies.get(i)));
      List<String> answers = sender.client().awaitAnswers(before + i + 1, trial.bounds().frame());
      trial.expect(
          "answer to frame " + id,
          "{\"type\":\"accepted\",\"id\":\"" + id + "\"}",
          answers.size() > before + i ? answers.get(before + i).strip() : "none");
      expected.add(
          "{\"type\":\"message\",\"id\":\"%s\",\"message\":%s}".formatted(id, bodies.get(i)));
    }
    receiver.client().await("message", 1, firstFrame);
    trial.figure("first message at the other socket after", trial.since(start));
    receiver
        .client()
        .awaitText(
            "\"type\":\"message\",\"id\":\"m-" + (bodies.size() - 1) + "\"",
            trial.bounds().frame());
    List<String> arrived =
        receiver.client().frames("message").stream()
            .filter(frame -> !frame.contains("\"id\":\"" + PROBE))
            .toList();
    trial.figure("messages", bodies.size());
    for (int i = 0; i < expected.size() && i < arrived.size(); i++) {
      if (!expected.get(i).equals(arrived.get(i))) {
        throw new Broken(
            "message " + i + " at the other socket",
            shortened(expected.get(i)),
            shortened(arrived.get(i)));
      }
    }
    trial.expect("number of messages at the other socket", expected.size(), arrived.size());
    if (tier == Tier.POOL) {
      pushed(trial, session, List.of(sender, receiver));
    }
  }

  /** A push to the session reaches all its sockets once, although it is requested twice. */
  private static void pushed(Trial trial, Session session, List<Connected> sockets) {
    String path = Paths.push(session.tenantId());
    ObjectNode push = Json.object();
    push.put("sessionId", session.id()).put("id", "push-1").putArray("message").add("n").add(1);
    for (int i = 0; i < 2; i++) {
      trial.did("POST " + path);
      Response answer = trial.deployment().control("POST", path, Optional.of(push));
      trial.expectStatus("POST " + path, 200, answer);
      trial.expect(
          "sockets that took the push", sockets.size(), answer.json().path("sockets").asInt(-1));
    }
    trial.did("POST " + path);
    push.put("id", "push-2");
    trial.expectStatus(
        "POST " + path, 200, trial.deployment().control("POST", path, Optional.of(push)));
    String frame = "{\"type\":\"push\",\"id\":\"push-%d\",\"message\":[\"n\",1]}";
    for (Connected socket : sockets) {
      trial.expect(
          "pushes at a socket",
          List.of(frame.formatted(1), frame.formatted(2)),
          socket.client().await("push", 2, trial.bounds().frame()));
    }
  }

  private static void pushedToAll(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    List<Connected> sockets =
        List.of(trial.connect(trial.session(tenant)), trial.connect(trial.session(tenant)));
    String path = Paths.push(tenant);
    for (String id : List.of("push-1", "push-1", "push-2")) {
      trial.did("POST " + path + " to all with the id " + id);
      ObjectNode push = Json.object().put("all", true).put("id", id).put("message", 1);
      trial.expectStatus(
          "POST " + path, 202, trial.deployment().control("POST", path, Optional.of(push)));
    }
    // Pages of a tenant go out one after another: what comes before the last push is all there is.
    for (Connected socket : sockets) {
      trial.expect(
          "pushes at a socket",
          List.of(
              "{\"type\":\"push\",\"id\":\"push-1\",\"message\":1}",
              "{\"type\":\"push\",\"id\":\"push-2\",\"message\":1}"),
          socket.client().await("push", 2, trial.bounds().frame()));
    }
  }

  private static String shortened(String frame) {
    return frame.length() <= SHOWN ? frame : frame.substring(0, SHOWN) + "…";
  }

  /** Sends frames until one is accepted, because a tenant's own queue may still be created. */
  private static void awaitQueue(Trial trial, Connected sender, String action) {
    AtomicInteger probes = new AtomicInteger();
    Duration ready =
        trial.await(
            "answer to a frame with action " + action,
            "accepted",
            trial.bounds().change(),
            () -> {
              int sent = probes.incrementAndGet();
              sender.send(frame(action, PROBE + sent, "0"));
              List<String> answers = sender.client().awaitAnswers(sent, trial.bounds().frame());
              return answers.size() < sent ? "none" : answers.get(sent - 1);
            },
            answer -> answer.contains("\"accepted\""));
    trial.figure("queue ready after", ready);
  }

  private static void answers(Trial trial) {
    trial.requireOwnApi(NO_MESSAGES);
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

  /** A message over the limit is refused with a time, and processed when sent at that time. */
  private static void throttled(Trial trial) {
    int rate = 2;
    String tenant = trial.onboard("-few", Tier.POOL, Map.of("messagesPerMinute", rate));
    Session session = trial.session(tenant);
    Connected sender = trial.connect(session);
    Connected receiver = trial.connect(session);
    int sent = rate + 2;
    trial.did("send " + sent + " messages of a tenant that may send " + rate + " a minute");
    for (int i = 0; i < sent; i++) {
      sender.send(frame(POOL, "m-" + i, "1"));
    }
    List<String> errors = sender.client().await("error", 1, trial.bounds().frame());
    if (errors.isEmpty()) {
      throw new Broken("error for one of " + sent + " messages", "THROTTLED", "none");
    }
    JsonNode error = Json.parse(errors.get(0)).orElseThrow();
    trial.expect("code of the error", "THROTTLED", error.path("code").asText());
    long retryAfter = error.path("retryAfterSeconds").asLong(-1);
    trial.figure("retryAfterSeconds of THROTTLED", retryAfter);
    trial.expectBetween("retryAfterSeconds", 1, 60 / rate + 2, retryAfter);
    String id = error.path("id").asText();
    trial.did("send message " + id + " again after " + retryAfter + " s");
    trial.pause(Duration.ofSeconds(retryAfter));
    sender.send(frame(POOL, id, "1"));
    trial.expect(
        "whether message " + id + " is processed after retryAfterSeconds",
        true,
        receiver.client().awaitText("\"id\":\"" + id + "\"", trial.bounds().frame()));
  }
}

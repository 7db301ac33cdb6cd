package dev.tollgate.bench.storm;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/**
 * Counts how often a message is processed if the client sends it twice under the same id: once
 * after it was refused with {@code THROTTLED} and its {@code retryAfterSeconds} have passed, and
 * once after it was processed.
 *
 * <p>The sample handler sends one reply each time it processes a message, so the replies are
 * counted.
 */
final class ResentMessage implements Measurement {
  private static final int TENANTS = 5;
  private static final int RATE = 12;

  /** More than the tokens that a drained bucket can get while the messages are sent. */
  private static final int MESSAGES = RATE + 3;

  private static final int ATTEMPTS = 3;
  private static final Duration ANSWER_TIME = Duration.ofSeconds(20);

  /** How long to wait for a second reply, which must not come. */
  private static final Duration SECOND_REPLY_TIME = Duration.ofSeconds(5);

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 3600, "messagesPerMinute": 12}}""";

  /**
   * The outcome for one tenant.
   *
   * @param retryAfterSeconds the seconds in each refusal of the refused message
   * @param refusedReplies the number of replies to the refused message
   * @param processedReplies the number of replies to the processed message
   */
  private record Outcome(
      List<Integer> retryAfterSeconds, int refusedReplies, int processedReplies) {}

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(6);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    String tier = deployment.tier("resent", TIER);
    List<Callable<Outcome>> tasks =
        IntStream.range(0, TENANTS)
            .mapToObj(i -> deployment.tenant("resent-" + i, tier))
            .map(Tenant::newSession)
            .map(session -> (Callable<Outcome>) () -> client(session, stopwatch))
            .toList();
    try (Clients clients = new Clients(TENANTS)) {
      return List.of(row(clients.run(tasks)));
    }
  }

  private static Outcome client(Session session, Stopwatch stopwatch) throws InterruptedException {
    Handshake answer = session.connect();
    if (!(answer instanceof Handshake.Admitted admitted)) {
      throw new IllegalStateException("handshake: " + answer + " (expected: admitted)");
    }
    try {
      return new Sender(admitted.socket(), stopwatch).outcome();
    } finally {
      answer.close();
    }
  }

  /** A client that resends refused messages. */
  private static final class Sender {
    private final Socket socket;
    private final Stopwatch stopwatch;
    private final Map<String, Integer> replies = new HashMap<>();

    /** The time of the next attempt in the last refusal of each message. */
    private final Map<String, Duration> nextAttempts = new LinkedHashMap<>();

    /** The seconds in each refusal of a message. */
    private final Map<String, List<Integer>> retryAfterSeconds = new HashMap<>();

    private Sender(Socket socket, Stopwatch stopwatch) {
      this.socket = socket;
      this.stopwatch = stopwatch;
    }

    private Outcome outcome() throws InterruptedException {
      List<String> ids = IntStream.range(0, MESSAGES).mapToObj(i -> "m-" + i).toList();
      ids.forEach(socket::send);
      Duration deadline = stopwatch.elapsed().plus(ANSWER_TIME);
      while (!ids.stream().allMatch(this::isAnswered) && receive(deadline)) {
        // Reading updates replies and nextAttempts.
      }
      String processed = ids.get(0);
      String refused =
          nextAttempts.keySet().stream()
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalStateException(
                          "refused messages: 0 of %d at %d a minute (expected: some)"
                              .formatted(MESSAGES, RATE)));
      for (int attempt = 0; attempt < ATTEMPTS && !replies.containsKey(refused); attempt++) {
        sendAgain(refused);
      }
      socket.send(processed);
      Duration quiet = stopwatch.elapsed().plus(SECOND_REPLY_TIME);
      while (receive(quiet)) {
        // A second reply would be counted.
      }
      return new Outcome(
          retryAfterSeconds.getOrDefault(refused, List.of()),
          replies.getOrDefault(refused, 0),
          replies.getOrDefault(processed, 0));
    }

    private boolean isAnswered(String id) {
      return replies.containsKey(id) || nextAttempts.containsKey(id);
    }

    /** Resends a refused message at the time of its next attempt, and waits for the result. */
    private void sendAgain(String id) throws InterruptedException {
      Optional<Duration> back = Optional.ofNullable(nextAttempts.remove(id));
      if (back.isEmpty()) {
        return;
      }
      stopwatch.sleepUntil(back.get());
      socket.send(id);
      Duration deadline = stopwatch.elapsed().plus(ANSWER_TIME);
      while (!isAnswered(id) && receive(deadline)) {
        // Reading updates replies and nextAttempts.
      }
    }

    /** Reads the next frame; returns false if none arrives in time. */
    private boolean receive(Duration deadline) throws InterruptedException {
      Optional<JsonNode> frame = socket.receive(deadline.minus(stopwatch.elapsed()));
      frame.ifPresent(this::note);
      return frame.isPresent();
    }

    private void note(JsonNode frame) {
      String id = frame.path("id").asText();
      if (frame.path("type").asText().equals("reply")) {
        replies.merge(id, 1, Integer::sum);
      } else if (frame.path("code").asText().equals("THROTTLED")) {
        int seconds = frame.path("retryAfterSeconds").asInt();
        retryAfterSeconds.computeIfAbsent(id, first -> new ArrayList<>()).add(seconds);
        nextAttempts.put(id, stopwatch.elapsed().plusSeconds(seconds));
      }
    }
  }

  private static Row row(List<Outcome> outcomes) {
    return new Row(
        "message refused with `THROTTLED`, sent again under its id after `retryAfterSeconds`",
        ("of %d such messages, with retryAfterSeconds %s, %s;"
                + " of %d processed messages that were sent again %s")
            .formatted(
                outcomes.size(),
                outcomes.stream()
                    .map(Outcome::retryAfterSeconds)
                    .map(Object::toString)
                    .collect(joining(", ")),
                summary(outcomes.stream().map(Outcome::refusedReplies).toList()),
                outcomes.size(),
                summary(outcomes.stream().map(Outcome::processedReplies).toList())),
        "processed exactly once");
  }

  private static String summary(List<Integer> replies) {
    return "%d were processed once, %d never, %d more than once"
        .formatted(
            replies.stream().filter(count -> count == 1).count(),
            replies.stream().filter(count -> count == 0).count(),
            replies.stream().filter(count -> count > 1).count());
  }
}

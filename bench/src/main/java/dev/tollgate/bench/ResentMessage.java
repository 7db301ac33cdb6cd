package dev.tollgate.bench;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.JsonNode;
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
 * How often a message is processed that was refused with {@code THROTTLED} and is sent again under
 * its own id after the time that the refusal told; and one that was processed and is sent again.
 *
 * <p>The sample's handler replies once each time that it processes a message, so replies are
 * counted.
 */
final class ResentMessage implements Measurement {
  private static final int TENANTS = 5;
  private static final int RATE = 12;

  /** More than a drained bucket can get while they are sent. */
  private static final int MESSAGES = RATE + 3;

  private static final int ATTEMPTS = 3;
  private static final Duration ANSWER_TIME = Duration.ofSeconds(20);

  /** Time for a second reply that must not come. */
  private static final Duration SECOND_REPLY_TIME = Duration.ofSeconds(5);

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 3600, "messagesPerMinute": 12}}""";

  /**
   * What became of a message that was refused, and of one that was processed.
   *
   * @param told the seconds that each refusal of the former told
   * @param refusedReplies replies to the one that was refused
   * @param processedReplies replies to the one that was processed
   */
  private record Fate(List<Integer> told, int refusedReplies, int processedReplies) {}

  @Override
  public Duration patience() {
    return Duration.ofMinutes(6);
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    String tier = deployment.tier("resent", TIER);
    List<Callable<Fate>> clients =
        IntStream.range(0, TENANTS)
            .mapToObj(i -> deployment.tenant("resent-" + i, tier))
            .map(Tenant::newSession)
            .map(session -> (Callable<Fate>) () -> client(session, watch))
            .toList();
    try (Crowd crowd = new Crowd(TENANTS)) {
      return List.of(row(crowd.run(clients)));
    }
  }

  private static Fate client(Session session, Watch watch) throws InterruptedException {
    Handshake answer = session.connect();
    if (!(answer instanceof Handshake.Admitted admitted)) {
      throw new IllegalStateException("handshake: " + answer + " (expected: admitted)");
    }
    try {
      return new Sender(admitted.socket(), watch).fate();
    } finally {
      answer.close();
    }
  }

  /** A client that sends messages, and sends again what was refused. */
  private static final class Sender {
    private final Socket socket;
    private final Watch watch;
    private final Map<String, Integer> replies = new HashMap<>();

    /** When the latest refusal of a message says that it may come back. */
    private final Map<String, Duration> returns = new LinkedHashMap<>();

    /** The seconds that each refusal of a message told. */
    private final Map<String, List<Integer>> told = new HashMap<>();

    private Sender(Socket socket, Watch watch) {
      this.socket = socket;
      this.watch = watch;
    }

    private Fate fate() throws InterruptedException {
      List<String> ids = IntStream.range(0, MESSAGES).mapToObj(i -> "m-" + i).toList();
      ids.forEach(socket::send);
      Duration deadline = watch.elapsed().plus(ANSWER_TIME);
      while (!ids.stream().allMatch(this::isAnswered) && receive(deadline)) {
        // All that is read is noted in replies and returns.
      }
      String processed = ids.get(0);
      String refused =
          returns.keySet().stream()
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
      Duration quiet = watch.elapsed().plus(SECOND_REPLY_TIME);
      while (receive(quiet)) {
        // A second reply would be noted.
      }
      return new Fate(
          told.getOrDefault(refused, List.of()),
          replies.getOrDefault(refused, 0),
          replies.getOrDefault(processed, 0));
    }

    private boolean isAnswered(String id) {
      return replies.containsKey(id) || returns.containsKey(id);
    }

    /** Sends a message again when it may come back, if it may, and waits for what comes of it. */
    private void sendAgain(String id) throws InterruptedException {
      Optional<Duration> back = Optional.ofNullable(returns.remove(id));
      if (back.isEmpty()) {
        return;
      }
      watch.sleepUntil(back.get());
      socket.send(id);
      Duration deadline = watch.elapsed().plus(ANSWER_TIME);
      while (!isAnswered(id) && receive(deadline)) {
        // As above.
      }
    }

    /** Notes the next frame; false if none comes in time. */
    private boolean receive(Duration deadline) throws InterruptedException {
      Optional<JsonNode> frame = socket.receive(deadline.minus(watch.elapsed()));
      frame.ifPresent(this::note);
      return frame.isPresent();
    }

    private void note(JsonNode frame) {
      String id = frame.path("id").asText();
      if (frame.path("type").asText().equals("reply")) {
        replies.merge(id, 1, Integer::sum);
      } else if (frame.path("code").asText().equals("THROTTLED")) {
        int seconds = frame.path("retryAfterSeconds").asInt();
        told.computeIfAbsent(id, first -> new ArrayList<>()).add(seconds);
        returns.put(id, watch.elapsed().plusSeconds(seconds));
      }
    }
  }

  private static Row row(List<Fate> fates) {
    return new Row(
        "message refused with `THROTTLED`, sent again under its id after the time it was told",
        ("of %d such messages, told to wait %s s, %s;"
                + " of %d processed messages that were sent again %s")
            .formatted(
                fates.size(),
                fates.stream().map(Fate::told).map(Object::toString).collect(joining(", ")),
                summary(fates.stream().map(Fate::refusedReplies).toList()),
                fates.size(),
                summary(fates.stream().map(Fate::processedReplies).toList())),
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

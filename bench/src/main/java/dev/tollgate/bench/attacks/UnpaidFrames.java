package dev.tollgate.bench.attacks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One socket of a bronze tenant sends frames without a message for 27 s, with up to a hundred
 * unanswered frames at a time.
 */
final class UnpaidFrames implements Measurement {
  private static final Duration SPAN = Duration.ofSeconds(27);
  private static final Duration LAST_ANSWERS = Duration.ofSeconds(3);
  private static final int ON_THEIR_WAY = 100;
  private static final String FRAME = "{\"action\":\"PooledSQS\"}";

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(5);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Socket socket = Neighbour.open(deployment.tenant("unpaid", "bronze").newSession());
    try (Neighbour neighbour = new Neighbour("unpaid", deployment, stopwatch)) {
      return List.of(
          new Row(
              "one bronze socket (60 messages a minute) floods `{\"action\":\"PooledSQS\"}`",
              "7,808 frames accepted in 27 s",
              neighbour.during(() -> flood(socket, stopwatch)),
              "closed after a few bad frames; neighbour undisturbed"));
    } finally {
      socket.abort();
    }
  }

  private static String flood(Socket socket, Stopwatch stopwatch) throws InterruptedException {
    Map<String, Integer> answers = new TreeMap<>();
    Duration start = stopwatch.elapsed();
    int sent = 0;
    int answered = 0;
    while (socket.isOpen() && stopwatch.elapsed().minus(start).compareTo(SPAN) < 0) {
      if (sent - answered < ON_THEIR_WAY) {
        try {
          socket.sendText(FRAME);
        } catch (IllegalStateException closed) {
          break;
        }
        sent++;
      }
      answered += take(socket, answers, Duration.ZERO);
      if (sent - answered >= ON_THEIR_WAY) {
        answered += take(socket, answers, Duration.ofMillis(20));
      }
    }
    final Duration took = stopwatch.elapsed().minus(start);
    final boolean closed = !socket.isOpen();
    Duration end = stopwatch.elapsed().plus(LAST_ANSWERS);
    while (stopwatch.elapsed().compareTo(end) < 0) {
      take(socket, answers, Duration.ofMillis(100));
    }
    return "%,d frames accepted of %,d sent in %s s, socket %s; answers: %s"
        .formatted(
            answers.getOrDefault("accepted", 0),
            sent,
            Times.seconds(took),
            closed ? "closed" : "still open",
            answers);
  }

  /** Reads the next frame, if there is one; returns the number of frames that it answers. */
  private static int take(Socket socket, Map<String, Integer> answers, Duration within)
      throws InterruptedException {
    Optional<JsonNode> frame = socket.receive(within);
    String kind =
        frame.map(f -> f.path("type").asText() + f.path("code").asText("")).orElse("none");
    frame.ifPresent(f -> answers.merge(kind.replaceFirst("^error", "error "), 1, Integer::sum));
    return kind.equals("accepted") || kind.startsWith("error") ? 1 : 0;
  }
}

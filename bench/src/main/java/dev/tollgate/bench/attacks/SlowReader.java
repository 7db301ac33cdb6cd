package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A client never reads its socket. Another socket of its session sends messages of 30,000
 * characters for half a minute. Each message causes a frame to both sockets: the message or its
 * reply.
 */
final class SlowReader implements Measurement {
  private static final Duration SPAN = Duration.ofSeconds(30);
  private static final Duration EVERY = Duration.ofMillis(25);
  private static final int LENGTH = 30_000;
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 600, "sessionPerMinute": 600, "connectionsPerSession": 10,
                  "tenantConnections": 100, "sessionTTL": 3600, "messagesPerMinute": 6000}}""";

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(6);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Session session = deployment.tenant("slow", deployment.tier("slow", TIER)).newSession();
    Handshake slow = session.connectWithoutReading();
    if (!(slow instanceof Handshake.Admitted unread)) {
      throw new IllegalStateException("handshake: " + slow.word() + " (expected: admitted)");
    }
    Socket sender = Neighbour.open(session);
    try (Neighbour neighbour = new Neighbour("slow", deployment, stopwatch)) {
      return List.of(
          new Row(
              "a client never reads the messages that it gets for 30 s",
              "another tenant's reply took 65 s instead of 0.05 s",
              neighbour.during(() -> flood(sender, stopwatch)),
              "only its own session is slower"));
    } finally {
      sender.abort();
      unread.socket().abort();
    }
  }

  private static String flood(Socket sender, Stopwatch stopwatch) throws InterruptedException {
    String message = "x".repeat(LENGTH);
    Duration start = stopwatch.elapsed();
    int sent = 0;
    int replies = 0;
    while (sender.isOpen() && stopwatch.elapsed().minus(start).compareTo(SPAN) < 0) {
      try {
        sender.sendText(
            "{\"action\":\"PooledSQS\",\"id\":\"s-%d\",\"message\":\"%s\"}"
                .formatted(sent, message));
      } catch (IllegalStateException closed) {
        break;
      }
      sent++;
      while (true) {
        var frame = sender.receive(Duration.ZERO);
        if (frame.isEmpty()) {
          break;
        }
        replies += frame.get().path("type").asText().equals("reply") ? 1 : 0;
      }
      stopwatch.sleepUntil(start.plus(EVERY.multipliedBy(sent)));
    }
    return String.format(
        Locale.ROOT,
        "%d messages (%d MB) sent in %s s, %d replies to the sender in that time",
        sent,
        (long) sent * LENGTH / 1_000_000,
        Times.seconds(stopwatch.elapsed().minus(start)),
        replies);
  }
}

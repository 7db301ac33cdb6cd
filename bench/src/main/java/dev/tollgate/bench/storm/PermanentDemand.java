package dev.tollgate.bench.storm;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * Counts the handshakes that a bucket of capacity 20 and 60 per minute admits under permanent load.
 */
final class PermanentDemand implements Measurement {
  private static final int CAPACITY = 20;
  private static final int CLIENTS = 4;
  private static final Duration SPAN = Duration.ofSeconds(152);
  private static final Duration AFTER_REFUSAL = Duration.ofMillis(200);
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0, "buckets": {"connect": {"capacity": 20}},
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                  "tenantConnections": 10000, "sessionTTL": 3600, "messagesPerMinute": 60}}""";

  @Override
  public Duration timeout() {
    return SPAN.plusMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Tenant tenant = deployment.tenant("demand", deployment.tier("demand", TIER));
    List<Session> sessions = Stream.generate(tenant::newSession).limit(CLIENTS).toList();
    try (Clients clients = new Clients(CLIENTS)) {
      Duration end = stopwatch.elapsed().plus(SPAN);
      int admitted =
          clients
              .run(sessions.stream().map(session -> client(session, end, stopwatch)).toList())
              .stream()
              .mapToInt(Integer::intValue)
              .sum();
      return List.of(
          new Row(
              "bucket of capacity %d at 60 a minute under permanent demand for %d s"
                  .formatted(CAPACITY, SPAN.toSeconds()),
              admitted + " tokens",
              "%d, less a minute's at most".formatted(CAPACITY + SPAN.toSeconds())));
    }
  }

  private static Callable<Integer> client(Session session, Duration end, Stopwatch stopwatch) {
    return () -> {
      int admitted = 0;
      while (stopwatch.elapsed().compareTo(end) < 0) {
        Handshake answer = session.connect();
        if (!(answer instanceof Handshake.Admitted)) {
          stopwatch.sleep(AFTER_REFUSAL);
        } else if (stopwatch.elapsed().compareTo(end) <= 0) {
          admitted++;
        }
        answer.close();
      }
      return admitted;
    };
  }
}

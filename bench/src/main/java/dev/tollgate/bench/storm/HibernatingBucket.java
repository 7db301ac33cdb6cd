package dev.tollgate.bench.storm;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Counts how many of 200 handshakes a hibernating bucket of 10 per minute admits. */
final class HibernatingBucket implements Measurement {
  private static final int HANDSHAKES = 200;
  private static final int AT_ONCE = 20;
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(6);
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 1,
       "limits": {"tenantPerMinute": 10, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                  "tenantConnections": 1000, "sessionTTL": 3600, "messagesPerMinute": 60}}""";

  /** An answer and its time. */
  private record Answer(Duration at, Handshake handshake) {}

  @Override
  public Duration timeout() {
    return LONGEST_WAIT.plusMinutes(4);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Tenant tenant = deployment.tenant("hibernating", deployment.tier("hibernating", TIER));
    List<Session> sessions = Stream.generate(tenant::newSession).limit(AT_ONCE).toList();
    sleepUntilHibernating(tenant, stopwatch);
    try (Clients clients = new Clients(AT_ONCE)) {
      Duration start = stopwatch.elapsed();
      List<Answer> answers =
          clients.run(
              IntStream.range(0, HANDSHAKES)
                  .mapToObj(i -> sessions.get(i % AT_ONCE))
                  .map(session -> client(session, stopwatch))
                  .toList());
      final Duration took = stopwatch.elapsed().minus(start);
      for (Answer answer : answers) {
        answer.handshake().close();
      }
      return List.of(row(answers, start, took));
    }
  }

  private static Callable<Answer> client(Session session, Stopwatch stopwatch) {
    return () -> {
      Handshake handshake = session.connect();
      return new Answer(stopwatch.elapsed(), handshake);
    };
  }

  private static void sleepUntilHibernating(Tenant tenant, Stopwatch stopwatch)
      throws InterruptedException {
    Duration deadline = stopwatch.elapsed().plus(LONGEST_WAIT);
    while (!tenant.bucketState("connect").equals("HIBERNATING")) {
      if (stopwatch.elapsed().compareTo(deadline) > 0) {
        throw new IllegalStateException(
            "state of bucket connect: %s after %d minutes (expected: HIBERNATING)"
                .formatted(tenant.bucketState("connect"), LONGEST_WAIT.toMinutes()));
      }
      stopwatch.sleep(Duration.ofSeconds(5));
    }
  }

  private static Row row(List<Answer> answers, Duration start, Duration took) {
    long admitted =
        answers.stream()
            .filter(answer -> answer.handshake() instanceof Handshake.Admitted)
            .filter(answer -> answer.at().minus(start).compareTo(MINUTE) <= 0)
            .count();
    Map<String, Long> words =
        new TreeMap<>(
            answers.stream().collect(groupingBy(answer -> answer.handshake().word(), counting())));
    return new Row(
        "%d handshakes on a hibernating bucket of 10 a minute".formatted(HANDSHAKES),
        "%d admitted within a minute; all answers %s, after %s s"
            .formatted(admitted, words, Times.seconds(took)),
        "at most 20 admitted");
  }
}

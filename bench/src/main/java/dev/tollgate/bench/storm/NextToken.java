package dev.tollgate.bench.storm;

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
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures how long a drained bucket of 12 per minute takes to admit the next handshake.
 *
 * <p>Each round drains the buckets of twelve tenants, five seconds apart, so that the drains cover
 * all phases of the minute. A drain is twelve handshakes at once. The measured time begins with the
 * drain, when an ideal bucket begins to refill, and ends with the next admitted handshake. A client
 * tries one handshake every quarter of a second.
 */
final class NextToken implements Measurement {
  private static final int RATE = 12;
  private static final int ROUNDS = 2;
  private static final Duration BETWEEN_DRAINS = Duration.ofSeconds(5);
  private static final Duration BETWEEN_PROBES = Duration.ofMillis(250);

  /** Long enough to refill any bucket, plus half a step so that the rounds differ in phase. */
  private static final Duration ROUND = Duration.ofMillis(182_500);

  private static final Duration LONGEST = Duration.ofSeconds(110);
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 12, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                  "tenantConnections": 1000, "sessionTTL": 3600, "messagesPerMinute": 60}}""";

  /**
   * A drain and the wait after it.
   *
   * @param admitted the number of admitted handshakes
   * @param took the time until all handshakes were answered
   * @param next the time from the start to the next admission; empty if there was none in time
   */
  private record Drain(long admitted, Duration took, Optional<Duration> next) {
    private boolean drainedFullBucket() {
      return admitted == RATE;
    }
  }

  @Override
  public Duration timeout() {
    return ROUND.multipliedBy(ROUNDS).plusMinutes(4);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    String tier = deployment.tier("next-token", TIER);
    List<Session> sessions =
        IntStream.range(0, RATE)
            .mapToObj(i -> deployment.tenant("next-token-" + i, tier))
            .map(Tenant::newSession)
            .toList();
    // The buckets of the new tenants are filled before the next minute starts.
    Instant minute = stopwatch.now().truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES);
    Duration start = stopwatch.elapsed().plus(Duration.between(stopwatch.now(), minute));
    List<Drain> drains = Collections.synchronizedList(new ArrayList<>());
    List<Callable<Void>> tasks =
        IntStream.range(0, RATE)
            .mapToObj(
                i ->
                    client(
                        sessions.get(i),
                        start.plus(BETWEEN_DRAINS.multipliedBy(i)),
                        stopwatch,
                        drains))
            .toList();
    try (Clients clients = new Clients(RATE)) {
      clients.run(tasks);
    }
    return List.of(row(drains));
  }

  private static Callable<Void> client(
      Session session, Duration first, Stopwatch stopwatch, List<Drain> drains) {
    return () -> {
      for (int round = 0; round < ROUNDS; round++) {
        stopwatch.sleepUntil(first.plus(ROUND.multipliedBy(round)));
        drains.add(drain(session, stopwatch));
      }
      return null;
    };
  }

  private static Drain drain(Session session, Stopwatch stopwatch) throws InterruptedException {
    List<Handshake> answers = new ArrayList<>();
    try (Clients clients = new Clients(RATE)) {
      Duration start = stopwatch.elapsed();
      answers.addAll(
          clients.run(
              Stream.<Callable<Handshake>>generate(() -> session::connect).limit(RATE).toList()));
      final long admitted = answers.stream().filter(NextToken::isAdmitted).count();
      final Duration took = stopwatch.elapsed().minus(start);
      Optional<Duration> next = Optional.empty();
      while (next.isEmpty() && stopwatch.elapsed().minus(start).compareTo(LONGEST) < 0) {
        Duration probe = stopwatch.elapsed();
        Handshake answer = session.connect();
        answers.add(answer);
        if (isAdmitted(answer)) {
          next = Optional.of(stopwatch.elapsed().minus(start));
        } else {
          stopwatch.sleepUntil(probe.plus(BETWEEN_PROBES));
        }
      }
      return new Drain(admitted, took, next);
    } finally {
      for (Handshake answer : answers) {
        answer.close();
      }
    }
  }

  private static boolean isAdmitted(Handshake answer) {
    return answer instanceof Handshake.Admitted;
  }

  private static Row row(List<Drain> drains) {
    List<Drain> full = drains.stream().filter(Drain::drainedFullBucket).toList();
    Times next = Times.of(full.stream().flatMap(drain -> drain.next().stream()).toList());
    Times took = Times.of(full.stream().map(Drain::took).toList());
    long never = full.stream().filter(drain -> drain.next().isEmpty()).count();
    return new Row(
        "next token of a drained bucket of %d a minute (ideal: 5 s)".formatted(RATE),
        "%s, of %d drains that took %s; %d drains found the bucket not full; %d got no token within %d s"
            .formatted(
                next.summary(),
                full.size(),
                took.summary(),
                drains.size() - full.size(),
                never,
                LONGEST.toSeconds()),
        "at most 7 s, median 6 s");
  }
}

package dev.tollgate.bench;

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
 * How long a drained bucket of 12 a minute takes to give its next token.
 *
 * <p>Twelve tenants are drained once in each round, five seconds apart, so that all phases of the
 * minute are met. A drain is twelve handshakes at once. The time is taken from their start, when an
 * ideal bucket begins to refill, to the next handshake that is admitted; one is tried every quarter
 * of a second.
 */
final class NextToken implements Measurement {
  private static final int RATE = 12;
  private static final int ROUNDS = 2;
  private static final Duration BETWEEN_DRAINS = Duration.ofSeconds(5);
  private static final Duration BETWEEN_PROBES = Duration.ofMillis(250);

  /** Long enough for any bucket to be full again, with half a step to meet other phases. */
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
   * @param admitted how many of its handshakes were admitted
   * @param took until all of them were answered
   * @param next from its start until the next admission; empty if none came in time
   */
  private record Drain(long admitted, Duration took, Optional<Duration> next) {
    private boolean isOfFullBucket() {
      return admitted == RATE;
    }
  }

  @Override
  public Duration patience() {
    return ROUND.multipliedBy(ROUNDS).plusMinutes(4);
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    String tier = deployment.tier("next-token", TIER);
    List<Session> sessions =
        IntStream.range(0, RATE)
            .mapToObj(i -> deployment.tenant("next-token-" + i, tier))
            .map(Tenant::newSession)
            .toList();
    // Buckets of new tenants are filled in the meantime.
    Instant minute = watch.now().truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES);
    Duration start = watch.elapsed().plus(Duration.between(watch.now(), minute));
    List<Drain> drains = Collections.synchronizedList(new ArrayList<>());
    List<Callable<Void>> clients =
        IntStream.range(0, RATE)
            .mapToObj(
                i ->
                    client(
                        sessions.get(i), start.plus(BETWEEN_DRAINS.multipliedBy(i)), watch, drains))
            .toList();
    try (Crowd crowd = new Crowd(RATE)) {
      crowd.run(clients);
    }
    return List.of(row(drains));
  }

  private static Callable<Void> client(
      Session session, Duration first, Watch watch, List<Drain> drains) {
    return () -> {
      for (int round = 0; round < ROUNDS; round++) {
        watch.sleepUntil(first.plus(ROUND.multipliedBy(round)));
        drains.add(drain(session, watch));
      }
      return null;
    };
  }

  private static Drain drain(Session session, Watch watch) throws InterruptedException {
    List<Handshake> answers = new ArrayList<>();
    try (Crowd crowd = new Crowd(RATE)) {
      Duration start = watch.elapsed();
      answers.addAll(
          crowd.run(
              Stream.<Callable<Handshake>>generate(() -> session::connect).limit(RATE).toList()));
      final long admitted = answers.stream().filter(NextToken::isAdmitted).count();
      final Duration took = watch.elapsed().minus(start);
      Optional<Duration> next = Optional.empty();
      while (next.isEmpty() && watch.elapsed().minus(start).compareTo(LONGEST) < 0) {
        Duration probe = watch.elapsed();
        Handshake answer = session.connect();
        answers.add(answer);
        if (isAdmitted(answer)) {
          next = Optional.of(watch.elapsed().minus(start));
        } else {
          watch.sleepUntil(probe.plus(BETWEEN_PROBES));
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
    List<Drain> full = drains.stream().filter(Drain::isOfFullBucket).toList();
    Times next = Times.of(full.stream().flatMap(drain -> drain.next().stream()).toList());
    Times took = Times.of(full.stream().map(Drain::took).toList());
    long never = full.stream().filter(drain -> drain.next().isEmpty()).count();
    return new Row(
        "next token of a drained bucket of %d a minute (ideal: 5 s)".formatted(RATE),
        "%s, of %d drains that took %s; %d drains met no full bucket; %d got no token within %d s"
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

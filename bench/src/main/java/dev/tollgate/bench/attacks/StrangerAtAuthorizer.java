package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/**
 * A stranger makes handshakes with invented session ids of an existing tenant: first one after
 * another, then twenty at a time for ten seconds. One tenant has an empty bucket, another is
 * suspended.
 */
final class StrangerAtAuthorizer implements Measurement {
  private static final int ONE_BY_ONE = 8;
  private static final int STRANGERS = 20;
  private static final Duration FLOOD = Duration.ofSeconds(10);
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 1, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 100, "sessionTTL": 3600, "messagesPerMinute": 60}}""";

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(6);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    String tier = deployment.tier("stranger", TIER);
    try (Neighbour neighbour = new Neighbour("stranger", deployment, stopwatch)) {
      Tenant drained = drained("drained", deployment, tier);
      Row empty =
          new Row(
              "invented sessions of a tenant whose bucket is empty",
              "8 of 8 handshakes took 1.03 s",
              neighbour.during(() -> attack(drained, stopwatch)),
              "as fast as with tokens (15 to 21 ms)");
      Tenant suspended = drained("suspended", deployment, tier);
      suspended.suspend();
      return List.of(
          empty,
          new Row(
              "invented sessions of a suspended tenant",
              "4 of 4 handshakes took 1 s",
              neighbour.during(() -> attack(suspended, stopwatch)),
              "as fast as with tokens (15 to 21 ms)"));
    }
  }

  /** A tenant whose only token was just spent, before its first refusal. */
  private static Tenant drained(String name, Deployment deployment, String tier)
      throws InterruptedException {
    Tenant tenant = deployment.tenant(name, tier);
    Neighbour.open(tenant.newSession()).close();
    return tenant;
  }

  private static String attack(Tenant tenant, Stopwatch stopwatch) throws InterruptedException {
    Map<String, Integer> answers = new TreeMap<>();
    List<Duration> single = new ArrayList<>();
    for (int i = 0; i < ONE_BY_ONE; i++) {
      single.add(handshake(tenant, stopwatch, answers));
    }
    Duration end = stopwatch.elapsed().plus(FLOOD);
    Callable<List<Duration>> stranger =
        () -> {
          List<Duration> took = new ArrayList<>();
          while (stopwatch.elapsed().compareTo(end) < 0) {
            took.add(handshake(tenant, stopwatch, answers));
          }
          return took;
        };
    List<Duration> crowded;
    try (Clients clients = new Clients(STRANGERS)) {
      crowded =
          clients.run(IntStream.range(0, STRANGERS).mapToObj(i -> stranger).toList()).stream()
              .flatMap(List::stream)
              .toList();
    }
    return "one by one %s (median, longest); %d at a time %s, %d in %d s; answers: %s"
        .formatted(
            Times.of(single).medianAndLongest(),
            STRANGERS,
            Times.of(crowded).medianAndLongest(),
            crowded.size(),
            FLOOD.toSeconds(),
            answers);
  }

  private static Duration handshake(
      Tenant tenant, Stopwatch stopwatch, Map<String, Integer> answers)
      throws InterruptedException {
    Duration start = stopwatch.elapsed();
    Handshake answer = tenant.madeUpSession().connect();
    Duration took = stopwatch.elapsed().minus(start);
    synchronized (answers) {
      answers.merge(answer.word(), 1, Integer::sum);
    }
    answer.close();
    return took;
  }
}

package dev.tollgate.bench.compare;

import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.AwsRequests;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import dev.tollgate.bench.contenders.PeerTable;
import dev.tollgate.bench.contenders.SampleHandshake;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The whole handshake, at a local cloud whose services delay each request. Tollgate's is a real
 * one: a client opens a WebSocket, the gateway invokes both functions. The sample's is a replay of
 * its requests alone, so it has no gateway, no invocation and no WebSocket.
 */
final class Handshakes {
  private static final int WARM_UP = 5;
  private static final double NANOS_PER_MILLI = 1e6;

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 2000, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                  "tenantConnections": 10000, "sessionTTL": 3600, "messagesPerMinute": 60}}""";

  private final Deployment deployment;
  private final AwsRequests requests;
  private final Stopwatch stopwatch;

  Handshakes(Deployment deployment, Path requests, Stopwatch stopwatch) {
    this.deployment = deployment;
    this.requests = new AwsRequests(requests);
    this.stopwatch = stopwatch;
  }

  /** The name of Tollgate's handshake. */
  static final String TOLLGATE = "Tollgate";

  /** The name of the replay. */
  static final String SAMPLE = "the sample's calls";

  /** Measures both, in turns. */
  List<Figure> measure(Delay delay, int count) throws InterruptedException {
    Tenant tenant = deployment.tenant("handshake", deployment.tier("handshake", TIER));
    Session session = tenant.newSession();
    PeerTable table = new PeerTable(deployment.claimsEnvironment()).create();
    List<Duration> ours = new ArrayList<>();
    List<Duration> samples = new ArrayList<>();
    try (SampleHandshake sample = new SampleHandshake(table, tenant.id())) {
      for (int i = 0; i < WARM_UP; i++) {
        connect(session);
        sample.connect();
      }
      stopwatch.sleep(Duration.ofSeconds(1));
      var unused = requests.next(AwsRequests.HANDSHAKE);
      for (int i = 0; i < count; i++) {
        ours.add(connect(session));
        Duration start = stopwatch.elapsed();
        sample.connect();
        samples.add(stopwatch.elapsed().minus(start));
      }
      stopwatch.sleep(Duration.ofSeconds(1));
    }
    long sent = requests.next(AwsRequests.HANDSHAKE).size();
    return List.of(
        figure(delay, TOLLGATE, sent, Times.of(ours)),
        figure(delay, SAMPLE, (long) SampleHandshake.REQUESTS * count, Times.of(samples)));
  }

  private static Figure figure(Delay delay, String who, long requests, Times times) {
    int count = times.sorted().size();
    double seconds =
        times.sorted().stream().mapToLong(Duration::toNanos).sum() / NANOS_PER_MILLI / 1e3;
    return new Figure(
        delay,
        Case.HANDSHAKE,
        who,
        count,
        count,
        0,
        seconds,
        1,
        requests,
        times.quantile(0.5).toNanos() / NANOS_PER_MILLI,
        times.quantile(0.99).toNanos() / NANOS_PER_MILLI,
        count / seconds,
        0,
        OptionalDouble.empty(),
        0,
        0);
  }

  private Duration connect(Session session) throws InterruptedException {
    Duration start = stopwatch.elapsed();
    Handshake answer = session.connect();
    Duration took = stopwatch.elapsed().minus(start);
    answer.close();
    if (!(answer instanceof Handshake.Admitted)) {
      throw new IllegalStateException("handshake: " + answer.word() + " (expected: admitted)");
    }
    return took;
  }
}

package dev.tollgate.bench.compare;

import com.sun.management.OperatingSystemMXBean;
import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.contenders.Contender;
import dev.tollgate.bench.contenders.Contender.Purpose;
import dev.tollgate.bench.contenders.Contenders;
import dev.tollgate.bench.contenders.Limiter;
import dev.tollgate.bench.contenders.PeerTable;
import dev.tollgate.bench.contenders.Relay;
import dev.tollgate.bench.contenders.TenantBuckets;
import dev.tollgate.bench.contenders.Wire;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Measures all contenders at one local cloud and one Redis, through relays that delay and count
 * their requests. In each round each contender has its turn in each case; the first of a round is
 * the second of the round before.
 */
final class Experiment implements AutoCloseable {
  private static final String ENDPOINT = "AWS_ENDPOINT_URL";

  /** Requests that a decision leaves behind have begun by then. */
  private static final Duration SETTLED = Duration.ofMillis(20);

  private static final int SETTLING = 25;

  /** Longer than a fill takes. */
  private static final Duration FILLED = Duration.ofSeconds(2);

  /** More decisions than {@link Purpose#EMPTY} has tokens. */
  private static final int EMPTYING = 12;

  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final Plan plan;
  private final Stopwatch stopwatch;
  private final LongSupplier nanoTime;
  private final PrintWriter progress;
  private final List<Relay> relays = new ArrayList<>();
  private final List<Contender> contenders;
  private final Clients clients = new Clients(Case.MANY);
  private final Map<String, List<Limiter>> opened = new HashMap<>();

  /**
   * Onboards tenants and opens the contenders.
   *
   * @param redis an address of Redis; empty leaves out who needs it
   */
  Experiment(
      Plan plan,
      Deployment deployment,
      Optional<InetSocketAddress> redis,
      Stopwatch stopwatch,
      LongSupplier nanoTime,
      PrintWriter progress)
      throws InterruptedException {
    this.plan = plan;
    this.stopwatch = stopwatch;
    this.nanoTime = nanoTime;
    this.progress = progress;
    Map<String, String> environment = new HashMap<>(deployment.claimsEnvironment());
    URI endpoint = URI.create(environment.getOrDefault(ENDPOINT, ""));
    Relay aws = relay(new InetSocketAddress(endpoint.getHost(), endpoint.getPort()), Relay.AWS);
    environment.put(ENDPOINT, "http://127.0.0.1:" + aws.port());
    Optional<InetSocketAddress> relayed =
        redis.map(
            address ->
                new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), relay(address, Relay.REDIS).port()));
    say("Onboarding tenants");
    TenantBuckets buckets =
        TenantBuckets.onboard(deployment, Case.MANY, plan.tokens(true), plan.tokens(false));
    contenders =
        Contenders.open(
            new PeerTable(environment).create(), buckets, relayed, InstantSource.system());
  }

  private void say(String what) {
    progress.printf("%3d s: %s ...%n", stopwatch.elapsed().toSeconds(), what);
  }

  private Relay relay(
      InetSocketAddress target, java.util.function.UnaryOperator<String> operationOf) {
    Relay relay = new Relay(target, operationOf);
    relays.add(relay);
    return relay;
  }

  /** Measures. */
  List<Figure> measure(Prices prices) throws InterruptedException {
    warmUp();
    List<Measured> all = new ArrayList<>();
    for (Delay delay : Delay.values()) {
      Map<String, Measured> measured = new HashMap<>();
      for (int round = 0; round < plan.rounds(); round++) {
        progress.printf(
            "%s a request, round %d of %d ...%n", delay.label(), round + 1, plan.rounds());
        for (Case of : Stream.concat(Case.ADMITTED.stream(), Case.REFUSED.stream()).toList()) {
          for (Contender contender : turns(round)) {
            Measured one =
                measured.computeIfAbsent(
                    of + contender.name(),
                    name -> {
                      Measured fresh = new Measured(delay, of, contender);
                      all.add(fresh);
                      return fresh;
                    });
            measure(one, delay, of, contender, round, limiters(contender, of));
          }
        }
      }
    }
    say("Draining buckets");
    for (Contender contender : contenders) {
      Measured one = new Measured(Delay.FIXED, Case.DRAINED, contender);
      all.add(one);
      measure(
          one,
          Delay.FIXED,
          Case.DRAINED,
          contender,
          0,
          contender.open(Purpose.DRAINED, Case.DRAINED.keys()));
    }
    return all.stream().map(one -> one.figure(prices)).toList();
  }

  /** The contenders of the tables, rotated by one a round. */
  private List<Contender> turns(int round) {
    List<Contender> turns =
        new ArrayList<>(
            contenders.stream()
                .filter(one -> !one.name().equals(Contenders.CHECK_THEN_ACT))
                .toList());
    Collections.rotate(turns, -round);
    return turns;
  }

  private void warmUp() throws InterruptedException {
    say("Warming up");
    for (Contender contender : turns(0)) {
      for (Case of : Case.ADMITTED) {
        var unused =
            Calls.make(
                clients, of.callers(), limiters(contender, of), plan.warmUp(contender), nanoTime);
      }
      empty(contender);
    }
    // A bucket of Tollgate that was found empty is looked at again when its fill has ended.
    stopwatch.sleep(FILLED);
    turns(0).forEach(this::empty);
  }

  private void empty(Contender contender) {
    for (Case of : Case.REFUSED) {
      for (Limiter limiter : limiters(contender, of)) {
        for (int i = 0; i < EMPTYING && limiter.tryAcquire(); i++) {
          // Until it is empty.
        }
      }
    }
  }

  /** The limiters of a contender in a case; the same for all cases of as many keys. */
  private List<Limiter> limiters(Contender contender, Case of) {
    return opened.computeIfAbsent(
        contender.name() + of.keys() + of.outcome(),
        name -> contender.open(of.outcome().purpose(), of.keys()));
  }

  private void measure(
      Measured measured,
      Delay delay,
      Case of,
      Contender contender,
      int round,
      List<Limiter> limiters)
      throws InterruptedException {
    LongSupplier nanos = delay.nanos(31L * of.hashCode() + round);
    relays.forEach(relay -> relay.delay(nanos));
    if (of.outcome() == Case.Outcome.ADMITTED) {
      var unused =
          Calls.make(clients, of.callers(), limiters, plan.leadIn(contender, of), nanoTime);
    }
    Wire before = settled();
    long cpu = PROCESS.getProcessCpuTime();
    Calls calls = Calls.make(clients, of.callers(), limiters, plan.bounds(contender, of), nanoTime);
    Wire passed = settled().since(before);
    measured.add(calls, passed, PROCESS.getProcessCpuTime() - cpu - passed.cpuNanos());
    relays.forEach(relay -> relay.delay(() -> 0));
  }

  /** What has passed when no request begins any more. */
  private Wire settled() throws InterruptedException {
    Wire wire = wire();
    for (int i = 0; i < SETTLING; i++) {
      stopwatch.sleep(SETTLED);
      Wire next = wire();
      if (next.total() == wire.total()) {
        return next;
      }
      wire = next;
    }
    return wire;
  }

  private Wire wire() {
    return relays.stream().map(Relay::wire).reduce(Wire.NONE, Wire::plus);
  }

  @Override
  public void close() {
    contenders.forEach(Contender::close);
    relays.forEach(Relay::close);
    clients.close();
  }
}

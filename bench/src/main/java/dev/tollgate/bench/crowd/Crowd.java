package dev.tollgate.bench.crowd;

import dev.tollgate.bench.Benchmark;
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
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Onboards tenants, opens sockets, holds them, and measures the memory of the local cloud. The
 * system properties {@code crowd.tenants}, {@code crowd.sockets} and {@code crowd.pid} (of the
 * local cloud) say how many and where. The tenants stay: use a cloud that is thrown away.
 */
public final class Crowd implements Measurement {
  private static final int CLIENTS = 32;
  private static final Duration HOLD = Duration.ofSeconds(30);

  private static final int ATTEMPTS = 3;

  /** Less than half of the shortest {@code sessionTTL} of the default tiers. */
  private static final int RENEWAL_SECONDS = 90;

  private final int tenants = Integer.getInteger("crowd.tenants", 1_000);
  private final int sockets = Integer.getInteger("crowd.sockets", 2_000);
  private final Footprint.Source cloud = Footprint.of(Long.getLong("crowd.pid", 0));

  private Crowd() {}

  /** Runs the command {@code crowd}. */
  public static void main(String... arguments) {
    Benchmark.run(
        "crowd",
        "Onboard many tenants, open many sockets, and print what they cost as a Markdown table.",
        Map.of("crowd", Crowd::new),
        arguments);
  }

  @Override
  public Duration timeout() {
    return Duration.ofHours(1);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    ScheduledExecutorService renewals = Executors.newScheduledThreadPool(2);
    try (Clients clients = new Clients(CLIENTS)) {
      List<Tenant> onboarded =
          clients.run(tasks(1, i -> deployment.lastingTenant("warm-up-" + i, "bronze")));
      open(clients, onboarded, 1, renewals);
      Footprint empty = cloud.read();
      Duration start = stopwatch.elapsed();
      onboarded =
          clients.run(tasks(tenants, i -> deployment.lastingTenant("crowd-" + i, "bronze")));
      Duration onboarding = stopwatch.elapsed().minus(start);
      Footprint full = cloud.read();
      start = stopwatch.elapsed();
      List<Handshake> handshakes = open(clients, onboarded, sockets, renewals);
      Duration opening = stopwatch.elapsed().minus(start);
      Footprint crowded = cloud.read();
      stopwatch.sleep(HOLD);
      return List.of(
          new Row(
              "onboarding %d tenants, %d at a time".formatted(tenants, CLIENTS),
              rate(tenants, onboarding) + "; " + full.since(empty, tenants, "tenant"),
              ""),
          new Row(
              "opening %d sockets, %d at a time".formatted(sockets, CLIENTS),
              rate(handshakes.size(), opening) + "; " + crowded.since(full, sockets, "socket"),
              ""),
          new Row(
              "of these, open %d s later".formatted(HOLD.toSeconds()),
              fates(handshakes) + "; " + crowded,
              String.valueOf(sockets)));
    } finally {
      renewals.shutdownNow();
    }
  }

  private static <T> List<Callable<T>> tasks(int count, IntFunction<T> task) {
    return IntStream.range(0, count).<Callable<T>>mapToObj(i -> () -> task.apply(i)).toList();
  }

  private static List<Handshake> open(
      Clients clients, List<Tenant> tenants, int sockets, ScheduledExecutorService renewals)
      throws InterruptedException {
    return clients.run(
        IntStream.range(0, sockets)
            .<Callable<Handshake>>mapToObj(
                i -> () -> open(tenants.get(i % tenants.size()), renewals))
            .toList());
  }

  /** Opens a socket in a session of its own, and keeps that session. */
  private static Handshake open(Tenant tenant, ScheduledExecutorService renewals)
      throws InterruptedException {
    Handshake handshake = new Handshake.Unanswered("not tried");
    for (int i = 0; i < ATTEMPTS && !(handshake instanceof Handshake.Admitted); i++) {
      Session session = tenant.newSession();
      handshake = session.connect();
      if (handshake instanceof Handshake.Admitted) {
        var unused =
            renewals.scheduleAtFixedRate(
                () -> renew(session), RENEWAL_SECONDS, RENEWAL_SECONDS, TimeUnit.SECONDS);
      }
    }
    return handshake;
  }

  /** A renewal that fails is repeated at the next time; a session that ends closes its socket. */
  private static void renew(Session session) {
    try {
      session.renew();
    } catch (RuntimeException failed) {
      // An exception would end the renewals.
    }
  }

  /**
   * How many sockets are open, and why the others are not: {@code unanswered 1, refused with 429 2,
   * open 1997}.
   */
  static String fates(List<Handshake> handshakes) {
    return handshakes.stream()
        .collect(Collectors.groupingBy(Crowd::fate, TreeMap::new, Collectors.counting()))
        .descendingMap()
        .entrySet()
        .stream()
        .map(fate -> fate.getKey() + " " + fate.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String fate(Handshake handshake) {
    if (handshake instanceof Handshake.Admitted open) {
      return open.socket().isOpen() ? "open" : "closed with " + open.socket().closeReason();
    }
    return handshake instanceof Handshake.Refused
        ? "refused with " + handshake.word()
        : "unanswered";
  }

  private static String rate(int count, Duration time) {
    return "%s s, %s a second"
        .formatted(
            Times.seconds(time),
            String.format(Locale.ROOT, "%.0f", count * 1_000.0 / time.toMillis()));
  }
}

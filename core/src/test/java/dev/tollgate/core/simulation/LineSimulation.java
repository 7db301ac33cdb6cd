package dev.tollgate.core.simulation;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.LineCaller;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Simulates clients that want one token each from one bucket, and come back as the {@link Claims}
 * tells them. Fills take a while to start, and clients' answers some milliseconds.
 */
final class LineSimulation {
  /** How a client comes back after a refusal. */
  enum Manners {
    /** When it was told, in whole seconds, plus some milliseconds. */
    POLITE,
    /** Every second or two, whatever it was told. */
    IMPOLITE,
    /** Never. */
    NO_SHOW,
    /** Up to a minute after it was told. */
    LATE
  }

  /** A client. */
  static final class Client implements LineCaller {
    final int number;
    final Manners manners;
    final Instant arrivedAt;
    Optional<Place> place = Optional.empty();
    Optional<Instant> toldFirst = Optional.empty();
    Optional<Instant> admittedAt = Optional.empty();
    int refusals;

    Client(int number, Manners manners, Instant arrivedAt) {
      this.number = number;
      this.manners = manners;
      this.arrivedAt = arrivedAt;
    }

    @Override
    public Optional<Place> place() {
      return place;
    }

    @Override
    public boolean keep(Place next, Instant slot) {
      place = Optional.of(next);
      return true;
    }

    Duration waited() {
      return Duration.between(arrivedAt, admittedAt.orElseThrow());
    }

    @Override
    public String toString() {
      return manners + " " + number + " refused " + refusals + " times, admitted " + admittedAt;
    }
  }

  private record Event(Instant at, long order, Runnable work) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  final AdmissionFixture ports = new AdmissionFixture();
  final BucketId id = new BucketId(new TenantId("acme"), Action.CONNECT);
  final List<Client> clients = new ArrayList<>();
  private final BucketMaintenance maintenance = ports.maintenance();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Random random;
  private final boolean inLine;
  private final Claims claims;
  private long order;
  int attempts;
  int admitted;

  LineSimulation(long seed, BucketSpec spec, boolean inLine) {
    this.random = new Random(seed);
    this.inLine = inLine;
    this.claims =
        new Claims(
            ports.buckets(),
            ports.queue(),
            new Requests(),
            Runnable::run,
            any -> {},
            ports.clock());
    ports.open(id, spec);
    minute(ports.clock().instant().plusMillis(random.nextInt(60_000)));
  }

  private final class Requests implements FillRequests {
    @Override
    public void send(BucketId bucket) {
      after(
          Duration.ofMillis(100 + random.nextInt(900)),
          () -> maintenance.maintainOnRequest(id, Instant.MAX));
    }

    @Override
    public void sendAndWait(BucketId bucket) {
      maintenance.maintainOnRequest(id, Instant.MAX);
    }
  }

  private void minute(Instant then) {
    at(
        then,
        () -> {
          maintenance.maintain(id, Instant.MAX);
          minute(then.plusSeconds(60));
        });
  }

  Instant now() {
    return ports.clock().instant();
  }

  void at(Instant instant, Runnable work) {
    events.add(new Event(instant, order++, work));
  }

  void after(Duration time, Runnable work) {
    at(now().plus(time), work);
  }

  void passUntil(Instant end) {
    while (!events.isEmpty() && !events.peek().at().isAfter(end)) {
      Event next = events.remove();
      ports.clock().set(next.at());
      next.work().run();
    }
    ports.clock().set(end);
  }

  Bucket row() {
    return ports.buckets().find(id).orElseThrow();
  }

  /** Changes the rate after {@code time}. */
  void retune(Duration time, Rate rate) {
    after(
        time,
        () -> {
          BucketSpec spec = row().spec();
          ports.retune(id, new BucketSpec(rate, spec.capacity(), spec.fillPolicy()));
        });
  }

  /** Takes all tokens that the bucket has now. */
  void drain() {
    while (claims.spend(row(), 1, new Attempt()) instanceof ClaimResult.Granted) {
      admitted++;
    }
  }

  /** A client that comes after {@code time}. */
  Client arrive(Duration time, Manners manners) {
    Client client = new Client(clients.size(), manners, now().plus(time));
    clients.add(client);
    after(time, () -> tryClaim(client));
    return client;
  }

  private void tryClaim(Client client) {
    attempts++;
    Bucket read = row();
    ClaimResult result =
        inLine
            ? claims.hold(read, client, claims.firstTry(id))
            : claims.hold(read, 1, claims.firstTry(id));
    if (result instanceof ClaimResult.Granted granted) {
      claims.held().settle(granted);
      admitted++;
      client.admittedAt = Optional.of(now());
      client.place = Optional.empty();
      return;
    }
    Instant retryAt = ((ClaimResult.Denied) result).retryAt();
    client.toldFirst = client.toldFirst.or(() -> Optional.of(retryAt));
    client.refusals++;
    long seconds = Math.max(1, (Duration.between(now(), retryAt).toMillis() + 999) / 1_000);
    Duration polite = Duration.ofMillis(1_000 * seconds + random.nextInt(300));
    switch (client.manners) {
      case POLITE -> after(polite, () -> tryClaim(client));
      case IMPOLITE ->
          after(Duration.ofMillis(500 + random.nextInt(1_500)), () -> tryClaim(client));
      case LATE -> after(polite.plusMillis(random.nextInt(60_000)), () -> tryClaim(client));
      case NO_SHOW -> {}
    }
  }
}

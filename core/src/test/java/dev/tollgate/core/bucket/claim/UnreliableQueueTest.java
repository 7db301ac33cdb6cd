package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Claims and fills over a queue with the weaknesses of SQS: receives that return fewer messages
 * than available, counts that are a minute old, throttled requests, lost answers.
 */
final class UnreliableQueueTest {
  private static final FillPolicy AWAKE = new FillPolicy(FillMode.PRODUCER, 0);

  private final AdmissionFixture ports = new AdmissionFixture();
  private final BucketId id = new BucketId(new TenantId("acme"), new Action("send-email"));

  private static class QueueWrapper implements TokenQueue {
    private final TokenQueue queue;

    QueueWrapper(TokenQueue queue) {
      this.queue = queue;
    }

    @Override
    public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
      return queue.reserve(bucket, max, lease, search);
    }

    @Override
    public List<Lease> settle(BucketId bucket, List<Lease> leases) {
      return queue.settle(bucket, leases);
    }

    @Override
    public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
      return queue.giveBack(bucket, leases);
    }

    @Override
    public List<Token> put(BucketId bucket, List<Token> tokens) {
      return queue.put(bucket, tokens);
    }

    @Override
    public Level countTokens(BucketId bucket) {
      return queue.countTokens(bucket);
    }
  }

  private Instant now() {
    return ports.clock().instant();
  }

  private Bucket row() {
    return ports.buckets().find(id).orElseThrow();
  }

  private void open(long perMinute, long capacity) {
    ports.open(id, new BucketSpec(Rate.perMinute(perMinute), capacity, AWAKE));
  }

  private Claims claims(TokenQueue queue) {
    return new Claims(
        ports.buckets(), queue, ports.fillRequests(), Runnable::run, pause -> {}, ports.clock());
  }

  private boolean take(Claims claims) {
    return claims.spend(row(), 1, new Attempt()) instanceof ClaimResult.Granted;
  }

  private int takeAll(Claims claims) {
    int taken = 0;
    while (take(claims)) {
      taken++;
    }
    return taken;
  }

  private void pass(Duration time) {
    ports.passUntil(now().plus(time));
  }

  // Incomplete receives.

  private TokenQueue returningFew(Random random, int few) {
    return new QueueWrapper(ports.queue()) {
      @Override
      public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
        return super.reserve(bucket, 1 + random.nextInt(Math.min(few, max)), lease, search);
      }
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 10})
  void claim_gets_all_tokens_although_each_receive_returns_few(int few) {
    open(10, 10);
    assertThat(claims(returningFew(new Random(few), few)).hold(row(), 10, new Attempt()))
        .isInstanceOf(ClaimResult.Granted.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 10})
  void bucket_does_not_grow_although_each_receive_returns_few(int few) {
    open(10, 60);
    Claims claims = claims(returningFew(new Random(few), few));
    for (int minute = 0; minute < 60; minute++) {
      pass(Duration.ofSeconds(55));
      assertThat(claims.spendUpTo(id, Optional.of(row()), 10).tokens()).isEqualTo(10);
      pass(Duration.ofSeconds(5));
    }
    assertThat(takeAll(ports.claims())).isLessThanOrEqualTo(60);
  }

  // Throttled requests.

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void bucket_of_unknown_level_does_not_grow(boolean isCountAvailable) {
    open(1, 5);
    Claims blind =
        claims(
            new QueueWrapper(ports.queue()) {
              @Override
              public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
                if (search == Search.LONG) {
                  throw new Unavailable("receive: throttled");
                }
                return List.of();
              }

              @Override
              public Level countTokens(BucketId bucket) {
                if (!isCountAvailable) {
                  throw new Unavailable("count: throttled");
                }
                return super.countTokens(bucket);
              }
            });
    for (int minute = 0; minute < 20; minute++) {
      pass(Duration.ofSeconds(30));
      assertThat(blind.hold(row(), 1, new Attempt())).isInstanceOf(ClaimResult.Denied.class);
      assertThat(row().emptyHint()).isEmpty();
      pass(Duration.ofSeconds(30));
    }
    assertThat(takeAll(ports.claims())).isEqualTo(5);
  }

  // Returned tokens.

  private void drainedWithOnePending() {
    open(1, 2);
    assertThat(takeAll(ports.claims())).isEqualTo(2);
    pass(Duration.ofMillis(61_500));
    assertThat(takeAll(ports.claims())).isEqualTo(1);
    assertThat(row().ledger().mintedThrough(row().spec())).isAfter(now());
  }

  private void assertSeenAtOnce() {
    assertThat(ports.queue().available(id)).isEqualTo(1);
    ports.clock().advance(Duration.ofSeconds(1));
    assertThat(take(ports.claims())).isTrue();
  }

  @Test
  void token_put_back_during_a_claim_is_not_hidden() {
    open(1, 2);
    assertThat(takeAll(ports.claims())).isEqualTo(2);
    pass(Duration.ofMillis(61_500));
    assertThat(take(ports.claims())).isTrue();
    Claims looking =
        claims(
            new QueueWrapper(ports.queue()) {
              @Override
              public Level countTokens(BucketId bucket) {
                Level level = super.countTokens(bucket);
                ports.heldTokens().putBack(id, 1);
                return level;
              }
            });
    assertThat(looking.hold(row(), 1, new Attempt())).isInstanceOf(ClaimResult.Denied.class);
    assertSeenAtOnce();
  }

  @Test
  void token_put_back_during_a_fill_is_not_hidden() {
    drainedWithOnePending();
    assertThat(row().at(now()).isKnownEmpty()).isTrue();
    TokenQueue putBack =
        new QueueWrapper(ports.queue()) {
          @Override
          public Level countTokens(BucketId bucket) {
            Level level = super.countTokens(bucket);
            ports.heldTokens().putBack(id, 1);
            return level;
          }
        };
    new BucketFill(ports.buckets(), putBack, ports.clock()).fill(id);
    assertSeenAtOnce();
  }

  @Test
  void token_put_back_by_an_unanswered_request_is_not_hidden() {
    drainedWithOnePending();
    TokenQueue lost =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Token> put(BucketId bucket, List<Token> tokens) {
            super.put(bucket, tokens);
            throw new Unavailable("send: no answer");
          }
        };
    new HeldTokens(ports.buckets(), lost, ports.clock()).putBack(id, 1);
    assertSeenAtOnce();
  }

  // Unspent tokens.

  private final Tenant gold =
      ports.onboard(
          "gold", "gold", Map.of(Limit.TENANT_PER_MINUTE, 3L, Limit.SESSION_PER_MINUTE, 1000L));

  private Ticket ticket() {
    Admission admission = ports.admission();
    return ((AdmissionDecision.Ticketed) admission.decide(gold.id(), ports.open(gold))).ticket();
  }

  private Registration.Result register(Ticket ticket, TokenQueue queue, InstantSource clock) {
    return new Registration(
            ports.sessions(),
            new HeldTokens(ports.buckets(), queue, clock),
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            pause -> {},
            clock)
        .register(ticket, "c-" + ticket.hashCode());
  }

  @Test
  void deleted_queue_admits_nobody() {
    Ticket ticket = ticket();
    ports.queue().delete(AdmissionFixture.connects(gold));
    assertThat(register(ticket, ports.queue(), ports.clock()))
        .isInstanceOf(Registration.NotRegistered.class);
  }

  @Test
  void unspent_token_admits_nobody() {
    TokenQueue refusing =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            return leases;
          }
        };
    assertThat(register(ticket(), refusing, ports.clock()))
        .isInstanceOf(Registration.NotRegistered.class);
  }

  @Test
  void message_whose_token_is_not_spent_is_not_admitted() {
    BucketId messages = new BucketId(gold.id(), Action.MESSAGE);
    TokenQueue frozen =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            ports.clock().advance(Duration.ofSeconds(31));
            return leases;
          }
        };
    SpendResult late = claims(frozen).spendUpTo(messages, ports.buckets().find(messages), 3);
    assertThat(late.tokens()).isZero();
    assertThat(late.shortfall().orElseThrow()).isInstanceOf(ClaimResult.Denied.class);
    TokenQueue deleting =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            ports.queue().delete(bucket);
            return super.settle(bucket, leases);
          }
        };
    SpendResult gone = claims(deleting).spendUpTo(messages, ports.buckets().find(messages), 3);
    assertThat(gone.tokens()).isZero();
    assertThat(gone.shortfall().orElseThrow()).isInstanceOf(ClaimResult.Denied.class);
  }

  @Test
  void claim_whose_tokens_are_spent_in_part_is_undecided() {
    open(60, 100);
    TokenQueue throttled =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            super.settle(bucket, leases.subList(BATCH, leases.size()));
            return leases.subList(0, BATCH);
          }
        };
    assertThat(claims(throttled).spend(row(), 100, new Attempt()))
        .isEqualTo(new ClaimResult.Undecided("10 of 100 tokens could not be spent", true));
  }

  @Test
  void claim_none_of_whose_tokens_is_spent_is_denied_and_returns_them() {
    open(60, 100);
    TokenQueue refusing =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            return leases;
          }
        };
    assertThat(claims(refusing).spend(row(), 100, new Attempt()))
        .isEqualTo(new ClaimResult.Denied(now().plus(Claims.LEASE)));
    assertThat(claims(ports.queue()).spend(row(), 100, new Attempt()))
        .isInstanceOf(ClaimResult.Granted.class);
  }

  @Test
  void claim_whose_tokens_are_spent_too_late_is_undecided() {
    open(60, 100);
    TokenQueue slow =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            List<Lease> unspent = super.settle(bucket, leases);
            ports.clock().advance(Claims.leaseToSpend(leases.size()));
            return unspent;
          }
        };
    assertThat(claims(slow).spend(row(), 1, new Attempt()))
        .isInstanceOf(ClaimResult.Undecided.class);
  }

  @Test
  void caller_whose_token_is_spent_too_late_keeps_its_place() {
    open(30, 30);
    takeAll(ports.claims());
    ClaimResult.Denied told = (ClaimResult.Denied) spendInLine(ports.queue(), Optional.empty());
    Optional<Place> place = told.place();
    assertThat(place).isPresent();
    ClaimResult.Denied behind = (ClaimResult.Denied) spendInLine(ports.queue(), Optional.empty());
    ports.passUntil(told.retryAt());

    ClaimResult late = spendInLine(settlingTooLate(), place);

    assertThat(late).isEqualTo(new ClaimResult.Denied(now(), place));
    assertThat(row().at(now()).standing(behind.place().orElseThrow())).isNotEqualTo(Standing.VOID);
    assertThat(spendInLine(ports.queue(), place)).isInstanceOf(ClaimResult.Granted.class);
  }

  @Test
  void caller_with_a_void_place_whose_token_is_spent_too_late_has_no_place() {
    open(30, 30);

    assertThat(spendInLine(settlingTooLate(), Optional.of(new Place(1, 1))))
        .isEqualTo(new ClaimResult.Denied(now()));
  }

  private TokenQueue settlingTooLate() {
    return new QueueWrapper(ports.queue()) {
      @Override
      public List<Lease> settle(BucketId bucket, List<Lease> leases) {
        ports.clock().advance(Claims.LEASE);
        return super.settle(bucket, leases);
      }
    };
  }

  private ClaimResult spendInLine(TokenQueue queue, Optional<Place> place) {
    Claims claims = claims(queue);
    return claims.spend(
        row(),
        new LineCaller() {
          @Override
          public Optional<Place> place() {
            return place;
          }

          @Override
          public boolean keep(Place taken, Instant slot) {
            return true;
          }
        },
        claims.firstTry(id));
  }

  /** As the SDK does, the queue sends no request of an interrupted thread. */
  @Test
  void interrupted_claim_leaves_no_token_held() {
    open(60, 100);
    TokenQueue interruptible =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
            check();
            return super.reserve(bucket, max, lease, search);
          }

          @Override
          public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
            check();
            return super.giveBack(bucket, leases);
          }

          private void check() {
            if (Thread.currentThread().isInterrupted()) {
              throw new Unavailable("interrupted");
            }
          }
        };
    ExecutorService executor = Executors.newCachedThreadPool();
    try {
      Claims claims =
          new Claims(
              ports.buckets(),
              interruptible,
              ports.fillRequests(),
              executor,
              pause -> {},
              ports.clock());
      assertThat(claims.spend(row(), 20, new Attempt())).isInstanceOf(ClaimResult.Granted.class);
      Thread.currentThread().interrupt();
      assertThat(claims.spend(row(), 85, new Attempt())).isInstanceOf(ClaimResult.Denied.class);
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      executor.shutdownNow();
    }
    assertThat(ports.queue().inFlight(id)).isZero();
  }

  /** As the SDK does, a receive throws its result away if its thread was interrupted meanwhile. */
  @Test
  void claim_that_is_interrupted_during_its_receive_has_the_tokens() {
    open(60, 100);
    Thread caller = Thread.currentThread();
    TokenQueue aborting =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
            caller.interrupt();
            List<Lease> found = super.reserve(bucket, max, lease, search);
            if (Thread.currentThread().isInterrupted()) {
              throw new Unavailable("aborted");
            }
            return found;
          }
        };
    ExecutorService executor = Executors.newCachedThreadPool();
    try {
      Claims claims =
          new Claims(
              ports.buckets(),
              aborting,
              ports.fillRequests(),
              executor,
              pause -> {},
              ports.clock());
      assertThat(claims.hold(row(), 1, new Attempt())).isInstanceOf(ClaimResult.Granted.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
      executor.shutdownNow();
    }
  }

  @Test
  void tokens_are_returned_although_the_thread_is_interrupted_meanwhile() {
    open(60, 100);
    TokenQueue aborting =
        new QueueWrapper(ports.queue()) {
          private boolean isFirst = true;

          @Override
          public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
            if (isFirst) {
              isFirst = false;
              Thread.currentThread().interrupt();
              throw new Unavailable("aborted");
            }
            return super.giveBack(bucket, leases);
          }
        };
    Claims claims = claims(aborting);
    ClaimResult held = claims.hold(row(), 3, new Attempt());

    claims.held().giveBack((ClaimResult.Granted) held);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(ports.queue().inFlight(id)).isZero();
  }

  /** Reports success for an outdated receipt, as SQS does. */
  @Test
  void token_is_spent_once_although_a_clock_is_three_seconds_slow() {
    BucketId connects = AdmissionFixture.connects(gold);
    ports.queue().settle(connects, ports.queue().reserve(connects, 2, Claims.LEASE, Search.LONG));
    TokenQueue acknowledging =
        new QueueWrapper(ports.queue()) {
          @Override
          public List<Lease> settle(BucketId bucket, List<Lease> leases) {
            super.settle(bucket, leases);
            return List.of();
          }
        };
    InstantSource slowClock = () -> now().minusSeconds(3);
    Ticket first = ticket();
    ports.clock().advance(Duration.ofMillis(30_500));
    Ticket second = ticket();
    assertThat(
            List.of(
                register(first, acknowledging, slowClock),
                register(second, acknowledging, slowClock)))
        .filteredOn(outcome -> outcome instanceof Registration.Registered)
        .hasSize(1);
  }

  // Outdated counts.

  /** Returns counts of 50 s ago; everything else works. */
  @ParameterizedTest
  @ValueSource(longs = {0, 5})
  void burst_at_a_full_bucket_is_admitted_at_the_rate_although_counts_lag(
      long hibernateAfterMinutes) {
    NavigableMap<Instant, Level> counts = new TreeMap<>();
    TokenQueue lagging =
        new QueueWrapper(ports.queue()) {
          @Override
          public Level countTokens(BucketId bucket) {
            var then = counts.floorEntry(now().minusSeconds(50));
            return then == null ? new Level(0, 0, 0) : then.getValue();
          }
        };
    BucketMaintenance maintenance =
        new BucketMaintenance(
            ports.buckets(),
            lagging,
            ports.queues(),
            ports.schedules(),
            new ReconcileRequests(ports.tenants()),
            ports.clock());
    AtomicInteger requests = new AtomicInteger();
    FillRequests fills =
        new FillRequests() {
          @Override
          public void send(BucketId bucket) {
            requests.incrementAndGet();
            maintenance.maintainOnRequest(bucket, Instant.MAX);
          }

          @Override
          public void sendAndWait(BucketId bucket) {
            send(bucket);
          }
        };
    Claims claims =
        new Claims(ports.buckets(), lagging, fills, Runnable::run, pause -> {}, ports.clock());
    ports.open(
        id,
        new BucketSpec(
            Rate.perMinute(60), 60, new FillPolicy(FillMode.PRODUCER, hibernateAfterMinutes)));
    Instant burst = now().plus(Duration.ofMinutes(10));
    Instant end = burst.plus(Duration.ofMinutes(3));
    Instant nextFill = now();
    int taken = 0;
    while (now().isBefore(end)) {
      ports.clock().advance(Duration.ofMillis(100));
      counts.put(now(), ports.queue().countTokens(id));
      if (!now().isBefore(nextFill)) {
        nextFill = nextFill.plusSeconds(60);
        if (!row().isHibernating()) {
          maintenance.maintain(id, Instant.MAX);
        }
      }
      taken += now().isBefore(burst) ? 0 : takeAll(claims);
    }
    assertThat(taken).isBetween(60 + 178, 60 + 180 + 60);
    assertThat(requests.get()).isLessThanOrEqualTo(10);
  }
}

package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Granted;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryTokenQueue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts the requests of a process that keeps rows, refusals and tokens. */
class CachedClaimsTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), new Action("send-email"));
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-01T12:00:00Z"));
  private final InMemoryBuckets rows = new InMemoryBuckets();
  private final InMemoryTokenQueue tokens = new InMemoryTokenQueue(clock);
  private final List<String> requests = new ArrayList<>();
  private final List<Runnable> timers = new ArrayList<>();
  private final Buckets buckets = counted(Buckets.class, rows);
  private final TokenQueue queue = counted(TokenQueue.class, tokens);
  private final Claims claims =
      new Claims(buckets, queue, new Fills(), Runnable::run, pause -> {}, clock);
  private final CachedClaims process = process(Optional.empty());

  private CachedClaims process(Optional<Prefetch> prefetch) {
    return new CachedClaims(
        id -> buckets.find(id).orElseThrow(), claims, prefetch, Runnable::run, clock);
  }

  private CachedClaims prefetching() {
    return process(
        Optional.of(
            new Prefetch(
                queue,
                new HeldTokens(buckets, queue, clock),
                10,
                (time, work) -> timers.add(work),
                clock)));
  }

  private <T> T counted(Class<T> port, T target) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              requests.add(method.getName());
              try {
                return method.invoke(target, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            }));
  }

  private final class Fills implements FillRequests {
    @Override
    public void send(BucketId id) {
      new BucketFill(rows, tokens, clock).fillOnRequest(rows.find(id).orElseThrow(), Instant.MAX);
    }

    @Override
    public void sendAndWait(BucketId id) {
      send(id);
    }
  }

  @BeforeEach
  void fill() {
    open(new BucketSpec(Rate.perMinute(6), 100, new FillPolicy(FillMode.PRODUCER, 0)));
  }

  private void open(BucketSpec spec) {
    rows.remove(ID);
    tokens.delete(ID);
    tokens.createQueue(ID);
    rows.open(Bucket.opened(ID, spec, clock.instant()));
    new BucketFill(rows, tokens, clock).fill(ID);
  }

  private List<String> requestsOf(Runnable claim) {
    requests.clear();
    claim.run();
    return List.copyOf(requests);
  }

  private void drain() {
    while (process.spend(ID, 1) instanceof Granted) {
      requests.clear();
    }
  }

  @Test
  void row_is_read_once_a_second() {
    assertThat(requestsOf(() -> process.spend(ID, 1))).containsExactly("find", "reserve", "settle");
    clock.advance(SECOND.minusMillis(1));
    assertThat(requestsOf(() -> process.spend(ID, 3))).containsExactly("reserve", "settle");
    clock.advance(Duration.ofMillis(1));
    assertThat(requestsOf(() -> process.spend(ID, 1))).containsExactly("find", "reserve", "settle");
  }

  @Test
  void row_is_read_for_each_claim_once_somebody_has_waited_in_line() {
    Bucket row = rows.find(ID).orElseThrow();
    Instant now = clock.instant();
    rows.changeLine(ID, Optional.empty(), row.at(now).lineOpened(now).cleared(now));
    for (int i = 0; i < 2; i++) {
      assertThat(requestsOf(() -> process.spend(ID, 1)))
          .containsExactly("find", "reserve", "settle");
    }
  }

  @Test
  void claim_that_finds_too_few_tokens_reads_the_row_before_it_is_refused() {
    assertThat(process.spend(ID, 99)).isInstanceOf(Granted.class);
    assertThat(requestsOf(() -> assertThat(process.spend(ID, 2)).isInstanceOf(Denied.class)))
        .startsWith("reserve", "reserve", "find");
  }

  @Test
  void claim_for_more_than_a_lowered_capacity_is_rejected_and_takes_nothing() {
    process.spend(ID, 60);
    rows.replace(
        rows.find(ID)
            .orElseThrow()
            .retuned(new BucketSpec(Rate.perMinute(6), 10), clock.instant()));
    assertThatThrownBy(() -> process.spend(ID, 50)).isInstanceOf(InvalidValue.class);
    assertThat(tokens.available(ID)).isEqualTo(40);
  }

  @Test
  void refusals_cost_no_request_until_the_next_token_and_for_five_seconds_at_most() {
    drain();
    assertThat(requestsOf(() -> assertThat(process.spend(ID, 1)).isInstanceOf(Denied.class)))
        .isEmpty();
    Instant told = ((Denied) process.spend(ID, 1)).retryAt();
    assertThat(told).isEqualTo(clock.instant().plusSeconds(11));
    assertThat(((Denied) process.spend(ID, 2)).retryAt()).isEqualTo(told.plusSeconds(10));
    assertThat(requestsOf(() -> assertThat(process.spend(ID, 100)).isInstanceOf(Denied.class)))
        .isEmpty();
    clock.advance(Duration.ofMillis(4_999));
    assertThat(
            requestsOf(
                () -> {
                  assertThat(process.spendUpTo(ID, 5))
                      .isEqualTo(refusedUntil(told.plusSeconds(40)));
                  assertThat(process.hold(ID, 5, SECOND)).isInstanceOf(Denied.class);
                  assertThat(((Denied) process.spend(ID, 1)).retryAt()).isEqualTo(told);
                }))
        .isEmpty();
    clock.advance(Duration.ofMillis(1));
    assertThat(requestsOf(() -> process.spend(ID, 1))).startsWith("find");
    clock.set(told);
    new BucketFill(rows, tokens, clock).fill(ID);
    assertThat(process.spend(ID, 1)).isInstanceOf(Granted.class);
  }

  private static SpendResult refusedUntil(Instant retryAt) {
    return new SpendResult(0, Optional.of(new Denied(retryAt)));
  }

  @Test
  void row_is_not_read_again_for_a_claim_of_the_whole_capacity() {
    process.spend(ID, 1);
    claims.held().putBack(ID, 1);

    assertThat(requestsOf(() -> assertThat(process.spend(ID, 100)).isInstanceOf(Granted.class)))
        .doesNotContain("find");
  }

  @Test
  void row_is_read_again_for_a_claim_beyond_its_capacity_which_may_have_grown() {
    process.spend(ID, 1);
    rows.replace(
        rows.find(ID)
            .orElseThrow()
            .retuned(new BucketSpec(Rate.perMinute(600), 200), clock.instant()));
    tokens.put(ID, Collections.nCopies(101, token()));

    assertThat(process.spend(ID, 150)).isInstanceOf(Granted.class);
  }

  @Test
  void kept_row_that_refuses_does_not_refuse_a_claim_beyond_its_capacity() {
    drain();
    assertThat(process.spend(ID, 100)).isInstanceOf(Denied.class);

    assertThatThrownBy(() -> process.spend(ID, 101)).isInstanceOf(InvalidValue.class);
  }

  private dev.tollgate.core.bucket.Token token() {
    return new dev.tollgate.core.bucket.Token("token", ID, clock.instant(), clock.instant());
  }

  @Test
  void claim_after_a_refusal_reads_the_row_before_it_asks_the_queue() {
    process.spend(ID, 99);
    assertThat(process.spend(ID, 2)).isInstanceOf(Denied.class);
    drainByAnotherProcess();
    clock.advance(SECOND);

    assertThat(requestsOf(() -> assertThat(process.spend(ID, 1)).isInstanceOf(Denied.class)))
        .containsExactly("find");
  }

  private void drainByAnotherProcess() {
    Claims other = new Claims(rows, tokens, new Fills(), Runnable::run, pause -> {}, clock);
    while (other.spend(rows.find(ID).orElseThrow(), 1, new Attempt()) instanceof Granted) {
      clock.advance(Duration.ofMillis(1));
    }
  }

  @Test
  void shortfall_is_remembered_as_a_refusal() {
    assertThat(process.spendUpTo(ID, 101).tokens()).isEqualTo(100);
    assertThat(claims.memory().hasAny(ID, Mark.REFUSED)).isTrue();
  }

  @Test
  void refusal_is_remembered_until_a_claim_is_granted() {
    process.spend(ID, 99);
    assertThat(process.spend(ID, 2)).isInstanceOf(Denied.class);
    assertThat(claims.memory().hasAny(ID, Mark.REFUSED)).isTrue();
    clock.advance(SECOND);

    assertThat(process.spend(ID, 1)).isInstanceOf(Granted.class);

    assertThat(claims.memory().hasAny(ID, Mark.REFUSED)).isFalse();
  }

  @Test
  void row_that_said_that_a_bucket_with_tokens_was_empty_refuses_nobody() {
    Bucket row = rows.find(ID).orElseThrow();
    rows.rememberEmpty(row, row.at(clock.instant()).hintWhenEmpty(0));

    assertThat(process.spend(ID, 1)).isInstanceOf(Granted.class);
    assertThat(process.spend(ID, 1)).isInstanceOf(Granted.class);
  }

  @Test
  void kept_row_refuses_until_the_same_instant_as_the_claim_that_read_it() {
    clock.advance(Duration.ofMillis(9_500));
    drainByAnotherProcess();
    clock.advance(Duration.ofMillis(700));

    ClaimResult refused = process.spend(ID, 2);

    assertThat(refused).isInstanceOf(Denied.class);
    assertThat(requestsOf(() -> assertThat(process.spend(ID, 2)).isEqualTo(refused))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void failure_of_the_reader_reaches_the_caller(boolean isFatal) {
    Throwable failure = isFatal ? new AssertionError("lost") : new Unavailable("lost");
    CachedClaims failing =
        new CachedClaims(
            id -> {
              if (failure instanceof Error fatal) {
                throw fatal;
              }
              throw (RuntimeException) failure;
            },
            claims,
            Optional.empty(),
            Runnable::run,
            clock);

    assertThatThrownBy(() -> failing.spend(ID, 3)).isSameAs(failure);
  }

  @Test
  void claim_whose_row_cannot_be_read_returns_its_tokens_and_forgets_the_row() {
    process.spend(ID, 97);
    rows.outage().begin("find");

    assertThatThrownBy(() -> process.spend(ID, 4)).isInstanceOf(Unavailable.class);

    assertThat(tokens.available(ID)).isEqualTo(3);
    assertThat(claims.memory().row(ID, SECOND)).isEmpty();
  }

  /** Opens a line with the place of a caller. */
  private Denied openLine() {
    LineCaller caller =
        new LineCaller() {
          @Override
          public Optional<dev.tollgate.core.bucket.Place> place() {
            return Optional.empty();
          }

          @Override
          public boolean keep(dev.tollgate.core.bucket.Place place, Instant slot) {
            return true;
          }
        };
    Denied waiting =
        (Denied)
            process.spendInLine(
                ID, row -> Optional.empty(), (row, first) -> claims.spend(row, caller, first));
    assertThat(waiting.place()).isPresent();
    return waiting;
  }

  @Test
  void first_refusal_after_this_process_opened_a_line_is_told_its_end() {
    drain();
    Denied waiting = openLine();

    assertThat(process.spend(ID, 3)).isEqualTo(new Denied(waiting.retryAt().plusSeconds(30)));
  }

  @Test
  void refusals_after_this_process_opened_a_line_are_told_its_end() {
    drain();
    Denied waiting = openLine();
    assertThat(requestsOf(() -> claimAgain(waiting))).as("of the grown line").contains("find");
    assertThat(requestsOf(() -> claimAgain(waiting))).isEmpty();
    Instant end = waiting.retryAt().plusSeconds(30);
    assertThat(((Denied) process.spend(ID, 3)).retryAt()).isEqualTo(end);
    assertThat(requestsOf(() -> assertThat(process.spend(ID, 3)).isEqualTo(new Denied(end))))
        .isEmpty();
    assertThat(requestsOf(() -> assertThat(claimAgain(waiting)).isEqualTo(waiting))).isEmpty();
    assertThat(process.spendUpTo(ID, 3)).isEqualTo(refusedUntil(waiting.retryAt().plusSeconds(10)));
  }

  /** Claims for a caller with a place, unless its process refuses it by a row that it kept. */
  private ClaimResult claimAgain(Denied waiting) {
    return process.spendInLine(ID, row -> waiting.place(), (row, first) -> waiting);
  }

  @Test
  void prefetch_serves_ten_claims_with_two_requests() {
    CachedClaims cached = prefetching();
    open(new BucketSpec(Rate.perMinute(6_000), 6_000, new FillPolicy(FillMode.PRODUCER, 0)));
    for (int i = 0; i < 200; i++) {
      cached.spend(ID, 1);
    }
    List<String> steady =
        requestsOf(
            () -> {
              for (int i = 0; i < 1_000; i++) {
                assertThat(cached.spend(ID, 1)).isInstanceOf(Granted.class);
              }
            });
    assertThat(steady).hasSize(200).containsOnly("reserve", "settle");
  }

  @Test
  void leased_prefetched_tokens_return_and_spent_ones_are_used_for_two_seconds() {
    CachedClaims cached = prefetching();
    for (int i = 0; i < 4; i++) {
      cached.spend(ID, 1);
      clock.advance(Duration.ofMillis(10));
    }
    long leased = tokens.inFlight(ID);
    assertThat(leased).isPositive();
    clock.advance(Duration.ofSeconds(2));
    timers.forEach(Runnable::run);
    assertThat(tokens.inFlight(ID)).isZero();
    assertThat(tokens.available(ID)).isBetween(94L, 96L);
  }

  private long left() {
    return tokens.level(ID);
  }

  @Test
  void spent_prefetched_tokens_are_not_used_after_two_seconds() {
    CachedClaims cached = prefetching();
    for (int i = 0; i < 4; i++) {
      cached.spend(ID, 1);
    }
    assertThat(left()).as("one of the spent tokens is prefetched").isEqualTo(95);
    clock.advance(SECOND.multipliedBy(2));
    assertThat(requestsOf(() -> cached.spend(ID, 1))).contains("settle");
  }

  @Test
  void prefetch_spends_no_token_ahead_while_a_fill_could_exceed_the_bound() {
    CachedClaims cached = prefetching();
    clock.advance(Duration.ofMinutes(2));
    for (int claims = 1; claims <= 30; claims++) {
      assertThat(cached.spend(ID, 1)).isInstanceOf(Granted.class);
      assertThat(left()).isEqualTo(100 - claims);
    }
  }

  @Test
  void prefetch_does_not_rely_on_a_row_in_which_the_bucket_hibernated() {
    rows.replace(rows.find(ID).orElseThrow().hibernating(clock.instant()));
    CachedClaims cached = prefetching();
    cached.spend(ID, 1);
    assertThat(rows.find(ID).orElseThrow().isHibernating()).isFalse();
    cached.spend(ID, 1);
    assertThat(tokens.inFlight(ID)).isPositive();
  }

  @Test
  void prefetch_takes_nothing_ahead_while_the_row_says_that_the_bucket_is_empty() {
    Bucket row = rows.find(ID).orElseThrow();
    rows.rememberEmpty(row, row.at(clock.instant()).hintWhenEmpty(0));
    CachedClaims cached = prefetching();
    long granted =
        IntStream.range(0, 10).filter(i -> cached.spend(ID, 1) instanceof Granted).count();
    assertThat(tokens.available(ID)).isEqualTo(100 - granted);
  }

  @Test
  void prefetch_does_not_rely_on_a_row_that_said_that_the_bucket_was_empty() {
    CachedClaims cached = prefetching();
    process.spend(ID, 100);
    assertThat(cached.spend(ID, 1)).isInstanceOf(Denied.class);
    fill();
    assertThat(cached.spend(ID, 1)).isInstanceOf(Granted.class);
    assertThat(tokens.inFlight(ID)).as("leased prefetched tokens").isPositive();
  }

  @Test
  void prefetch_does_not_rely_on_a_row_with_a_line() {
    Bucket row = rows.find(ID).orElseThrow();
    Instant now = clock.instant();
    rows.changeLine(ID, Optional.empty(), row.at(now).lineOpened(now).cleared(now));
    CachedClaims cached = prefetching();
    cached.spend(ID, 1);
    Bucket used = rows.find(ID).orElseThrow();
    rows.changeLine(ID, used.line(), used.at(now).lineOpened(now.plusSeconds(10)));
    assertThat(cached.spend(ID, 1)).isInstanceOf(Denied.class);
  }

  @Test
  void closing_returns_leased_tokens() {
    CachedClaims cached = prefetching();
    for (int i = 0; i < 4; i++) {
      cached.spend(ID, 1);
    }
    assertThat(tokens.inFlight(ID)).isPositive();
    cached.close();
    assertThat(tokens.inFlight(ID)).isZero();
  }

  @Test
  void prefetch_takes_nothing_from_a_bucket_that_is_less_than_half_full() {
    CachedClaims cached = prefetching();
    process.spend(ID, 51);
    clock.advance(SECOND);
    new BucketFill(rows, tokens, clock).fill(ID);
    for (int i = 0; i < 10; i++) {
      assertThat(cached.spend(ID, 1)).isInstanceOf(Granted.class);
    }
    assertThat(tokens.inFlight(ID)).isZero();
    assertThat(tokens.available(ID)).isEqualTo(39);
  }

  @Test
  void large_claims_end_within_their_lease_despite_a_slow_tail() {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int n : List.of(1, 10, 100, 1_000, 10_000)) {
      open(new BucketSpec(Rate.perMinute(60_000), 10_000, new FillPolicy(FillMode.PRODUCER, 0)));
      Claims slow =
          new Claims(rows, new Slow(random), new Fills(), Runnable::run, pause -> {}, clock);
      assertThat(slow.spend(rows.find(ID).orElseThrow(), n, new Attempt(Claims.leaseToSpend(n))))
          .isInstanceOf(Granted.class);
    }
  }

  /**
   * A queue whose requests take 20 to 100 ms, and one in a hundred of them two seconds. Requests of
   * one round run at the same time: the clock moves by the slowest of them. A receive returns half
   * of the tokens that it was asked for, at random.
   */
  private final class Slow implements TokenQueue {
    private static final int ROUND = 8;

    private final Random random;
    private int inRound;
    private Instant roundStart = clock.instant();

    Slow(Random random) {
      this.random = random;
    }

    private Duration latency() {
      return Duration.ofMillis(random.nextInt(100) == 0 ? 2_000 : 20 + random.nextInt(81));
    }

    private void pass(int requests) {
      for (int i = 0; i < requests; i++) {
        if (inRound++ % ROUND == 0) {
          roundStart = clock.instant();
        }
        Instant end = roundStart.plus(latency());
        clock.set(end.isAfter(clock.instant()) ? end : clock.instant());
      }
    }

    @Override
    public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
      Instant asked = inRound % ROUND == 0 ? clock.instant() : roundStart;
      int some = max == 1 ? 1 : max / 2 + random.nextInt(max / 2 + 1);
      List<Lease> found = tokens.reserve(bucket, some, lease, search);
      pass(1);
      return found.stream().map(one -> new Lease(one.receipt(), asked.plus(lease))).toList();
    }

    @Override
    public List<Lease> settle(BucketId bucket, List<Lease> leases) {
      inRound = 0;
      pass((leases.size() + BATCH - 1) / BATCH);
      return tokens.settle(bucket, leases);
    }

    @Override
    public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
      return tokens.giveBack(bucket, leases);
    }

    @Override
    public List<dev.tollgate.core.bucket.Token> put(
        BucketId bucket, List<dev.tollgate.core.bucket.Token> fresh) {
      return tokens.put(bucket, fresh);
    }

    @Override
    public Level countTokens(BucketId bucket) {
      pass(1);
      return tokens.countTokens(bucket);
    }
  }
}

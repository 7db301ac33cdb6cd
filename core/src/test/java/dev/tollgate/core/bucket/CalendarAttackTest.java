package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Granted;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryTokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is left in the queue of a bucket when its calendar or its capacity changes. */
final class CalendarAttackTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), new Action("send-email"));
  private static final Instant NOON = Instant.parse("2026-06-10T12:00:00Z");
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Instant TOMORROW = Instant.parse("2026-06-11T00:00:00Z");

  private final ManualClock clock = new ManualClock(NOON);
  private final InMemoryBuckets buckets = new InMemoryBuckets();
  private final InMemoryTokenQueue queue = new InMemoryTokenQueue(clock);
  private final BucketFill fill = new BucketFill(buckets, queue, clock);
  private final Claims claims =
      new Claims(buckets, queue, new Requests(), Runnable::run, any -> {}, clock);

  private final class Requests implements FillRequests {
    @Override
    public void send(BucketId id) {
      fill.fillOnRequest(row(), Instant.MAX);
    }

    @Override
    public void sendAndWait(BucketId id) {
      send(id);
    }
  }

  @BeforeEach
  void createQueue() {
    queue.createQueue(ID);
  }

  private Bucket row() {
    return buckets.find(ID).orElseThrow();
  }

  private static BucketSpec daily(long capacity) {
    return new BucketSpec(Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false), capacity);
  }

  private void open(BucketSpec spec) {
    buckets.open(Bucket.opened(ID, spec, clock.instant()));
    fill.fill(ID);
  }

  private void retune(BucketSpec spec) {
    buckets.replace(row().retuned(spec, clock.instant()));
    fill.fill(ID);
  }

  private ClaimResult claim() {
    return claims.spend(row(), 1, claims.firstTry(ID));
  }

  private long admitted(int tries) {
    return Stream.generate(this::claim).limit(tries).filter(Granted.class::isInstance).count();
  }

  private void putVoid(int tokens) {
    Instant then = clock.instant().minus(Duration.ofDays(1));
    queue.put(
        ID,
        Stream.generate(() -> new Token(UUID.randomUUID().toString(), ID, then, then))
            .limit(tokens)
            .toList());
  }

  @Test
  void change_from_a_rate_removes_the_old_tokens_and_gives_the_capacity() {
    open(new BucketSpec(Rate.perMinute(100), 100));
    clock.advance(Duration.ofSeconds(1));
    retune(daily(5));

    clock.advance(Duration.ofSeconds(5));
    assertThat(queue.level(ID)).isEqualTo(5);
    assertThat(admitted(7)).isEqualTo(5);
  }

  @Test
  void claim_that_finds_only_void_tokens_neither_counts_as_empty_nor_waits_for_the_next_period() {
    putVoid(100);
    buckets.open(Bucket.opened(ID, daily(5), NOON));
    Bucket read = row();
    Ledger.Step step = read.step(NOON, 0);
    buckets.replace(read.filled(step, 0, NOON));
    queue.put(
        ID,
        Stream.generate(() -> new Token(UUID.randomUUID().toString(), ID, NOON, NOON))
            .limit(5)
            .toList());

    assertThat(claim())
        .isInstanceOfSatisfying(
            Denied.class,
            denied -> assertThat(denied.retryAt()).isBeforeOrEqualTo(NOON.plusSeconds(1)));
    assertThat(row().emptyHint()).isEmpty();
    assertThat(queue.level(ID)).as("level without 20 of the void tokens").isEqualTo(85);
    assertThat(queue.inFlight(ID)).isZero();
    clock.advance(Duration.ofSeconds(2));
    assertThat(admitted(20)).isEqualTo(5);
  }

  private CachedClaims cached() {
    return new CachedClaims(id -> row(), claims, Optional.empty(), Runnable::run, clock);
  }

  @Test
  void void_tokens_that_a_claim_receives_are_removed() {
    putVoid(10);
    buckets.open(Bucket.opened(ID, daily(5), NOON));
    buckets.replace(row().filled(row().step(NOON, 0), 0, NOON));
    queue.put(ID, Collections.nCopies(5, new Token("token", ID, NOON, NOON)));

    assertThat(claim()).isInstanceOf(Granted.class);
    assertThat(cached().spendUpTo(ID, 4).tokens()).isEqualTo(4);

    assertThat(queue.level(ID)).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void first_claim_of_a_period_has_the_bucket_filled_and_is_refused_until_then(boolean isUpToN) {
    open(daily(5));
    clock.set(TOMORROW);

    ClaimResult refused = isUpToN ? cached().spendUpTo(ID, 3).shortfall().orElseThrow() : claim();

    assertThat(refused).isEqualTo(new Denied(TOMORROW.plusSeconds(1)));
    clock.advance(Duration.ofSeconds(1));
    assertThat(queue.level(ID)).isEqualTo(5);
    assertThat(admitted(7)).isEqualTo(5);
  }

  @Test
  void claim_after_the_capacity_was_lowered_has_tokens_removed_and_is_refused_for_a_second() {
    open(daily(30));
    assertThat(admitted(5)).isEqualTo(5);
    buckets.replace(row().retuned(daily(10), clock.instant()));

    assertThat(claim()).isEqualTo(new Denied(NOON.plusSeconds(1)));

    assertThat(queue.level(ID)).isEqualTo(5);
  }

  @Test
  void claim_at_an_empty_bucket_whose_capacity_was_lowered_is_refused_until_the_next_period() {
    open(daily(5));
    assertThat(admitted(5)).isEqualTo(5);
    fill.fill(ID);
    buckets.replace(row().retuned(daily(2), clock.instant()));
    Bucket retuned = row();

    assertThat(claim()).isEqualTo(new Denied(TOMORROW.plusSeconds(1)));
    assertThat(row()).isEqualTo(retuned);

    queue.put(ID, List.of(new Token("returned", ID, NOON, NOON)));
    assertThat(claim()).isEqualTo(new Denied(NOON.plusSeconds(1)));
    assertThat(queue.inFlight(ID)).isZero();
  }

  @Test
  void lower_capacity_removes_tokens_behind_void_ones() {
    putVoid(15);
    buckets.open(Bucket.opened(ID, daily(30), NOON));
    Bucket read = row();
    buckets.replace(
        read.filled(new Ledger.Step(30, new CalendarLedger(NOON, 30, NOON), true), 0, NOON));
    queue.put(
        ID,
        Stream.generate(() -> new Token(UUID.randomUUID().toString(), ID, NOON, NOON))
            .limit(30)
            .toList());
    retune(daily(10));

    assertThat(admitted(60)).isEqualTo(10);
  }

  @Test
  void tokens_that_are_returned_after_the_capacity_was_lowered_are_not_claimed() {
    open(daily(5));
    List<Lease> held = queue.reserve(ID, 5, Claims.LEASE, TokenQueue.Search.SHORT);
    retune(daily(2));
    queue.giveBack(ID, held);

    long admitted = 0;
    for (int i = 0; i < 20; i++) {
      clock.advance(Duration.ofSeconds(7));
      admitted += admitted(1);
    }
    assertThat(admitted).isEqualTo(2);
  }

  @Test
  void period_that_has_not_begun_for_a_caller_gives_it_no_tokens() {
    open(daily(2));
    assertThat(admitted(3)).isEqualTo(2);
    clock.set(TOMORROW.minusSeconds(3));
    Instant ahead = clock.instant().plusSeconds(5);
    buckets.replace(row().filled(row().step(ahead, 0), 0, ahead));
    Instant due = clock.instant();
    Token token = new Token("a", ID, ahead, due);
    queue.put(ID, List.of(token, new Token("b", ID, ahead, due)));

    assertThat(admitted(3)).isZero();
    assertThat(cached().spendUpTo(ID, 2).tokens()).isZero();
    assertThat(queue.available(ID)).isEqualTo(2);
    clock.set(TOMORROW.plusSeconds(1));
    assertThat(admitted(3)).isEqualTo(2);
  }

  @Test
  void fill_that_crashes_while_it_removes_tokens_loses_few_of_the_others() {
    open(daily(100));
    assertThat(admitted(40)).isEqualTo(40);
    buckets.replace(row().retuned(daily(60), clock.instant()));
    buckets.outage().begin("replace");
    Unavailable.ignore(() -> fill.fill(ID));
    buckets.outage().end();
    fill.fill(ID);

    assertThat(admitted(40)).isBetween(10L, 20L);
  }

  @Test
  void fill_removes_no_more_tokens_than_exceed_a_lower_capacity() {
    open(daily(100));
    buckets.replace(row().retuned(daily(85), clock.instant()));

    assertThat(fill.fill(ID))
        .isInstanceOfSatisfying(
            BucketFill.Filled.class,
            filled -> {
              assertThat(filled.trimmed()).isEqualTo(15);
              assertThat(filled.minted()).isZero();
            });
  }

  /** The tokens that were put back hide from the level that the fill removed as many. */
  @Test
  void surplus_tokens_are_removed_once_if_as_many_were_put_back_since_the_last_fill() {
    open(daily(100));
    assertThat(admitted(40)).isEqualTo(40);
    fill.fill(ID);
    claims.held().putBack(ID, 5);
    buckets.replace(row().retuned(daily(95), clock.instant()));

    fill.fill(ID);
    fill.fill(ID);

    assertThat(queue.level(ID)).isEqualTo(60);
  }

  @Test
  void fill_returns_the_valid_tokens_that_it_receives_among_void_ones() {
    open(daily(5));
    clock.set(TOMORROW);
    queue.put(ID, Collections.nCopies(3, new Token("put back", ID, TOMORROW, TOMORROW)));

    fill.fill(ID);

    assertThat(queue.inFlight(ID)).isZero();
    assertThat(queue.level(ID)).isEqualTo(3 + 5);
  }

  @Test
  void fill_removes_void_tokens_for_ten_seconds_before_it_mints() {
    open(daily(5));
    putVoid(1_000);
    clock.set(TOMORROW);
    Faults second = new Faults();
    second.each(() -> Optional.of(Faults.concurrently(() -> clock.advance(SECOND))));

    new BucketFill(buckets, second.around(TokenQueue.class, queue), clock).fill(ID);

    assertThat(clock.instant()).isBetween(TOMORROW.plusSeconds(10), TOMORROW.plusSeconds(15));
    assertThat(row().hasVoidTokensAt(clock.instant())).isFalse();
  }

  @Test
  void fill_that_removes_surplus_tokens_gives_way_to_a_concurrent_fill() {
    open(daily(100));
    buckets.replace(row().retuned(daily(10), clock.instant()));
    Faults faults = new Faults();
    faults.plan(2, call -> WriteResult.CONFLICT);
    BucketFill other = new BucketFill(faults.around(Buckets.class, buckets), queue, clock);

    assertThat(other.fill(ID)).isEqualTo(new BucketFill.Conflict());

    assertThat(faults.calls()).containsExactly("Buckets.find", "Buckets.replace");
  }

  @Test
  void tokens_of_a_fill_whose_clock_is_behind_the_one_of_the_row_are_valid() {
    buckets.open(Bucket.opened(ID, daily(30), NOON.plusSeconds(4)));
    fill.fill(ID);

    clock.advance(Duration.ofSeconds(10));
    assertThat(admitted(40)).isEqualTo(30);
  }

  @Test
  void claims_of_many_tokens_pass_void_ones() {
    open(daily(25));
    clock.set(TOMORROW);
    putVoid(50);
    fill.fill(ID);
    assertThat(claims.spendUpTo(ID, Optional.of(row()), 25).tokens()).isEqualTo(25);
  }

  @Test
  void tokens_of_a_rate_that_a_fast_clock_minted_are_void_after_the_change() {
    open(new BucketSpec(Rate.perMinute(30), 30));
    Instant ahead = clock.instant().plusSeconds(4);
    queue.put(
        ID,
        Stream.generate(() -> new Token(UUID.randomUUID().toString(), ID, ahead, clock.instant()))
            .limit(8)
            .toList());
    retune(daily(5));

    clock.advance(Duration.ofSeconds(6));
    assertThat(admitted(40)).isEqualTo(5);
  }
}

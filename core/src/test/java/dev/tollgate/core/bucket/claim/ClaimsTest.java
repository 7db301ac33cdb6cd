package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Granted;
import dev.tollgate.core.bucket.claim.ClaimResult.Undecided;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the claims that decides all claims: of connections, messages and applications. */
final class ClaimsTest {
  private final AdmissionFixture ports = new AdmissionFixture();
  private final Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final BucketId bucket = AdmissionFixture.connects(acme);
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private final List<Duration> pauses = new ArrayList<>();
  private final Claims claims =
      claims(
          counted(Buckets.class, ports.buckets()),
          counted(TokenQueue.class, ports.queue()),
          pauses::add);

  private Claims claims(Buckets buckets, TokenQueue queue, Pause pause) {
    return new Claims(buckets, queue, ports.fillRequests(), Runnable::run, pause, ports.clock());
  }

  /** Wraps a port to record its requests: the method, and for a receive the kind of search. */
  private <T> T counted(Class<T> port, T counted) {
    return watched(
        port,
        counted,
        (method, arguments) ->
            requests.add(method.equals("reserve") ? "reserve " + arguments.get(3) : method));
  }

  /** An action before each request. */
  private interface BeforeRequest {
    void run(String method, List<Object> arguments);
  }

  private static <T> T watched(Class<T> port, T watched, BeforeRequest before) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              before.run(method.getName(), List.of(arguments));
              try {
                return method.invoke(watched, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            }));
  }

  private Bucket row() {
    return row(bucket);
  }

  private Bucket row(BucketId id) {
    return ports.buckets().find(id).orElseThrow();
  }

  /** Opens a full bucket of a new tenant. */
  private BucketId open(String name, String perMinute, long capacity) {
    return open(
        name,
        new BucketSpec(Rate.perMinute(new BigDecimal(perMinute)), capacity, FillPolicy.DEFAULT));
  }

  private BucketId open(String name, BucketSpec spec) {
    BucketId id = AdmissionFixture.connects(ports.onboard(name, "gold", Map.of()));
    ports.buckets().remove(id);
    ports.queue().delete(id);
    ports.open(id, spec);
    return id;
  }

  private ClaimResult claim(int n) {
    return claims.spend(row(), n, new Attempt());
  }

  private long available() {
    return ports.queue().available(bucket);
  }

  private static Granted granted(ClaimResult claim) {
    assertThat(claim).isInstanceOf(Granted.class);
    return (Granted) claim;
  }

  private static Instant retryAt(ClaimResult claim) {
    assertThat(claim).isInstanceOf(Denied.class);
    return ((Denied) claim).retryAt();
  }

  private Instant second(double second) {
    return AdmissionFixture.START.plusMillis(Math.round(second * 1_000));
  }

  // All or none.

  @Test
  void one_claim_of_n_costs_as_much_as_n_claims_of_one() {
    granted(claim(25));
    assertThat(ports.queue().level(bucket)).isEqualTo(35);
    for (int i = 0; i < 25; i++) {
      granted(claim(1));
    }
    assertThat(ports.queue().level(bucket)).isEqualTo(10);
  }

  @Test
  void claim_for_more_than_available_takes_nothing_and_is_not_retried() {
    ports.requests().begin();
    claim(35);
    assertThat(retryAt(claim(26))).isEqualTo(second(2));
    assertThat(available()).isEqualTo(25);
    assertThat(pauses).isEmpty();
    assertThat(row().emptyHint()).as("empty hint after a claim of too many").isEmpty();
  }

  @Test
  void four_concurrent_claims_for_fifteen_of_twenty_grant_one_and_the_others_hold_nothing() {
    for (int round = 0; round < 20; round++) {
      BucketId id = open("together-" + round, "20", 20);
      Bucket read = row(id);
      Claims one = claims(ports.buckets(), ports.queue(), Pause.real());
      assertOneOfFour(id, Race.of(4, i -> one.spend(read, 15, new Attempt())));
    }
  }

  /** Each caller has its own process; all have received once before any of them receives again. */
  @Test
  void four_processes_claiming_fifteen_of_twenty_grant_one() {
    for (int round = 0; round < 20; round++) {
      BucketId id = open("apart-" + round, "20", 20);
      Bucket read = row(id);
      CyclicBarrier allHaveReceived = new CyclicBarrier(4);
      AtomicInteger asked = new AtomicInteger();
      List<ClaimResult> claims =
          Race.of(
              4,
              i -> {
                AtomicInteger receives = new AtomicInteger();
                TokenQueue queue =
                    watched(
                        TokenQueue.class,
                        ports.queue(),
                        (method, arguments) -> {
                          asked.incrementAndGet();
                          if (method.equals("reserve") && receives.incrementAndGet() == 2) {
                            await(allHaveReceived);
                          }
                        });
                return claims(ports.buckets(), queue, Pause.real()).spend(read, 15, new Attempt());
              });
      assertOneOfFour(id, claims);
      // Four times four rounds of four requests; pauses are random, so most need far fewer.
      assertThat(asked).as("requests").hasValueLessThanOrEqualTo(64);
    }
  }

  private void assertOneOfFour(BucketId id, List<ClaimResult> claims) {
    assertThat(claims).filteredOn(Granted.class::isInstance).hasSize(1);
    assertThat(claims).filteredOn(Denied.class::isInstance).hasSize(3);
    assertThat(ports.queue().available(id)).isEqualTo(5);
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException broken) {
      throw new AssertionError(broken);
    }
  }

  @Test
  void claim_is_retried_a_few_times_and_gives_tokens_back_if_others_hold_the_rest() {
    granted(claims.hold(row(), 40, new Attempt()));

    assertThat(claim(30)).isInstanceOf(Denied.class);

    assertThat(available()).isEqualTo(20);
    assertThat(pauses).hasSizeBetween(1, 3);
    assertThat(pauses.stream().mapToLong(Duration::toMillis).sum()).isLessThan(300);
  }

  @Test
  void claim_is_granted_tokens_given_back_during_its_retries() {
    Granted other = granted(claims.hold(row(), 40, new Attempt()));
    Claims patient = claims(ports.buckets(), ports.queue(), pause -> claims.held().giveBack(other));

    granted(patient.spend(row(), 30, new Attempt()));

    assertThat(available()).isEqualTo(30);
  }

  @Test
  void claim_that_may_find_all_tokens_once_others_return_them_is_retried() {
    granted(claims.hold(row(), 40, new Attempt()));

    assertThat(claim(60)).isInstanceOf(Denied.class);

    assertThat(pauses).isNotEmpty();
  }

  @Test
  void claim_holds_nothing_while_it_pauses() {
    granted(claims.hold(row(), 40, new Attempt()));
    List<Long> availableInPauses = new ArrayList<>();
    Claims patient =
        claims(ports.buckets(), ports.queue(), pause -> availableInPauses.add(available()));

    patient.spend(row(), 30, new Attempt());

    assertThat(availableInPauses).isNotEmpty().containsOnly(20L);
  }

  @Test
  void claim_that_finds_nothing_is_not_retried_although_others_hold_tokens() {
    granted(claims.hold(row(), 60, new Attempt()));

    assertThat(claim(1)).isInstanceOf(Denied.class);

    assertThat(pauses).isEmpty();
  }

  // Empty buckets.

  private boolean remembers(Claims process, Mark mark) {
    return process.memory().hasAny(bucket, mark);
  }

  @Test
  void granted_claim_forgets_that_the_bucket_was_empty() {
    claim(60);
    claim(1);
    assertThat(remembers(claims, Mark.EMPTY)).isTrue();
    claims.held().putBack(bucket, 1);

    granted(claim(1));

    assertThat(remembers(claims, Mark.EMPTY)).isFalse();
  }

  @Test
  void claims_that_an_empty_hint_refuses_remember_that_the_bucket_is_empty() {
    claim(60);
    claim(1);
    Optional<Instant> until = row().at(ports.clock().instant()).emptyUntil();
    Claims one = claims(ports.buckets(), ports.queue(), pauses::add);
    Claims other = claims(ports.buckets(), ports.queue(), pauses::add);

    one.spend(row(), 1, new Attempt());
    other.spendUpTo(row(), 1, new Attempt());

    assertThat(until).isPresent();
    assertThat(one.memory().until(bucket, Mark.EMPTY)).isEqualTo(until);
    assertThat(other.memory().until(bucket, Mark.EMPTY)).isEqualTo(until);
  }

  @Test
  void tokens_received_while_a_row_with_an_empty_hint_was_read_are_returned_if_they_are_too_few() {
    claim(60);
    claim(1);
    Bucket empty = row();
    claims.held().putBack(bucket, 2);

    assertThat(claims.hold(empty, 3, claims.firstTry(bucket, 3, Claims.LEASE)))
        .isInstanceOf(Denied.class);
    assertThat(available()).isEqualTo(2);

    granted(claims.hold(empty, 2, claims.firstTry(bucket, 2, Claims.LEASE)));
  }

  @Test
  void tokens_received_while_a_row_with_an_empty_hint_was_read_are_spent_by_a_claim_of_up_to_n() {
    claim(60);
    claim(1);
    Bucket empty = row();
    claims.held().putBack(bucket, 2);

    SpendResult spent = claims.spendUpTo(empty, 3, claims.firstTry(bucket, 3, Claims.LEASE));

    assertThat(spent.tokens()).isEqualTo(2);
    assertThat(spent.shortfall()).containsInstanceOf(Denied.class);
    assertThat(available()).isZero();
  }

  @Test
  void claim_forgets_a_line_in_which_nobody_waits() {
    claims.memory().mark(bucket, Mark.LINE, Instant.MAX);

    claim(1);

    assertThat(remembers(claims, Mark.LINE)).isFalse();
  }

  @Test
  void bucket_whose_only_token_is_held_counts_as_empty_for_one_second() {
    BucketId one = open("one", "0.2", 1);
    ports.requests().begin();
    Granted held = granted(claims.hold(row(one), 1, new Attempt()));
    assertThat(retryAt(claims.spend(row(one), 1, new Attempt()))).isEqualTo(second(301));

    claims.held().giveBack(held);
    ports.clock().advance(Duration.ofSeconds(1));

    assertThat(row(one).at(ports.clock().instant()).isKnownEmpty()).isFalse();
    granted(claims.spend(row(one), 1, new Attempt()));
  }

  @Test
  void returned_token_is_counted_once_by_the_next_fill() {
    BucketId one = open("one", "0.2", 1);
    for (int minute = 0; minute < 12; minute++) {
      Granted held = granted(claims.hold(row(one), 1, new Attempt()));
      assertThat(claims.spend(row(one), 1, new Attempt())).isInstanceOf(Denied.class);
      claims.held().giveBack(held);
      ports.pass(1);
      assertThat(ports.queue().level(one)).as("minute " + minute).isEqualTo(1);
    }
  }

  @Test
  void tokens_held_for_a_moment_are_hidden_for_at_most_one_second() {
    Granted held = granted(claims.hold(row(), 60, new Attempt()));
    assertThat(claim(1)).isInstanceOf(Denied.class);
    claims.held().giveBack(held);

    assertThat(row().at(ports.clock().instant()).emptyUntil().orElse(Instant.MIN))
        .isBeforeOrEqualTo(ports.clock().instant().plusSeconds(1));
    ports.clock().advance(Duration.ofSeconds(1));
    granted(claims(ports.buckets(), ports.queue(), pauses::add).spend(row(), 60, new Attempt()));
  }

  @Test
  void token_is_available_within_a_second_after_its_lease_ends() {
    BucketId one = open("one", "0.2", 1);
    granted(claims.hold(row(one), 1, new Attempt(Duration.ofSeconds(10))));
    ports.clock().advance(Duration.ofMillis(9_500));
    assertThat(claims.spend(row(one), 1, new Attempt())).isInstanceOf(Denied.class);

    ports.clock().advance(Duration.ofSeconds(1));

    granted(claims.spend(row(one), 1, new Attempt()));
  }

  @Test
  void token_put_back_is_available_at_once() {
    BucketId one = open("one", "0.2", 1);
    granted(claims.spend(row(one), 1, new Attempt()));
    assertThat(claims.spend(row(one), 1, new Attempt())).isInstanceOf(Denied.class);

    claims.held().putBack(one, 1);

    granted(claims.spend(row(one), 1, new Attempt()));
  }

  @Test
  void empty_hint_is_valid_for_at_most_one_minute() {
    BucketId slow = open("slow", "0.000001", 1);
    granted(claims.spend(row(slow), 1, new Attempt()));
    claims.spend(row(slow), 1, new Attempt());
    ports
        .queue()
        .put(
            slow,
            List.of(new Token("found", slow, AdmissionFixture.START, AdmissionFixture.START)));

    ports.clock().advance(Duration.ofMinutes(1));

    granted(claims.spend(row(slow), 1, new Attempt()));
  }

  @Test
  void fill_that_adds_a_token_clears_the_empty_hint() {
    ports.requests().begin();
    claim(60);
    claim(1);
    assertThat(row().emptyHint()).isPresent();
    ports.clock().advance(Duration.ofMillis(1_500));

    ports.fill().fill(bucket);

    assertThat(row().emptyHint()).isEmpty();
    granted(claim(1));
  }

  // Cost of refusals.

  @Test
  void first_refusal_of_a_drained_bucket_neither_waits_nor_long_polls() {
    claim(60);
    requests.clear();

    assertThat(claim(1)).isInstanceOf(Denied.class);

    assertThat(requests).containsExactly("reserve SHORT", "countTokens", "rememberEmpty");
    assertThat(pauses).isEmpty();
  }

  @Test
  void first_refusal_of_several_tokens_neither_waits_nor_long_polls() {
    claim(60);
    requests.clear();

    assertThat(claim(15)).isInstanceOf(Denied.class);

    assertThat(requests)
        .containsExactly("reserve SHORT", "reserve SHORT", "countTokens", "rememberEmpty");
    assertThat(pauses).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 15, 60})
  void refusal_under_an_empty_hint_costs_only_the_read_of_the_row(int n) {
    claim(60);
    claim(1);
    requests.clear();

    assertThat(claim(n)).isInstanceOf(Denied.class);
    assertThat(upTo(n).tokens()).isZero();

    assertThat(requests).isEmpty();
  }

  @Test
  void too_large_claim_refuses_others_of_its_size_for_one_second() {
    claim(50);
    ClaimResult first = claim(15);
    requests.clear();

    assertThat(claim(15)).isInstanceOf(Denied.class).isEqualTo(first);
    assertThat(requests).isEmpty();
    granted(claim(10));
    ports.clock().advance(Duration.ofSeconds(1));
    assertThat(claim(15)).isInstanceOf(Denied.class);
    assertThat(requests).contains("countTokens");
  }

  @Test
  void empty_hint_of_one_process_applies_to_all() {
    BucketId slow = open("slow", "0.2", 5);
    granted(claims.spend(row(slow), 5, new Attempt()));
    ClaimResult first = claims.spend(row(slow), 1, new Attempt());
    long asked = ports.queue().reserves();

    ports.clock().advance(Duration.ofSeconds(9));

    assertThat(
            claims(ports.buckets(), ports.queue(), pauses::add).spend(row(slow), 1, new Attempt()))
        .isEqualTo(first);
    assertThat(ports.queue().reserves()).isEqualTo(asked);
  }

  @Test
  void many_refusals_request_one_fill() {
    AtomicInteger sent = new AtomicInteger();
    FillRequests counting =
        new FillRequests() {
          @Override
          public void send(BucketId id) {
            sent.incrementAndGet();
          }

          @Override
          public void sendAndWait(BucketId id) {
            throw new AssertionError("unexpected wait for a fill of " + id);
          }
        };
    Claims one =
        new Claims(
            ports.buckets(), ports.queue(), counting, Runnable::run, pauses::add, ports.clock());
    granted(one.spend(row(), 60, new Attempt()));
    Bucket read = row();
    for (int i = 0; i < 50; i++) {
      assertThat(one.spend(i % 2 == 0 ? read : row(), 1, new Attempt())).isInstanceOf(Denied.class);
    }
    Claims other =
        new Claims(
            ports.buckets(), ports.queue(), counting, Runnable::run, pauses::add, ports.clock());
    assertThat(other.spend(read, 1, new Attempt())).isInstanceOf(Denied.class);
    assertThat(sent).hasValue(1);
  }

  @Test
  void pending_tokens_suppress_fill_requests() {
    claim(60);
    claim(1);
    assertThat(ports.queue().level(bucket)).as("minted ahead").isEqualTo(60);
    Bucket ahead = row();
    ports.clock().advance(Duration.ofSeconds(2));
    granted(claim(2));
    ports.requests().begin();
    assertThat(claim(1)).isInstanceOf(Denied.class);
    assertThat(row().version()).isEqualTo(ahead.version());
    assertThat(ahead.at(ports.clock().instant()).needsFill()).isFalse();
  }

  // Retry times.

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 20, 60})
  void lone_caller_that_waits_for_retryAt_is_granted(int n) {
    claim(60);
    Instant told = retryAt(claim(n));
    assertThat(told).isEqualTo(second(n + 1));
    ports.passUntil(told);
    granted(claim(n));
  }

  @Test
  void retryAt_stays_the_same_until_it_is_reached() {
    BucketId slow = open("slow", "3", 3);
    granted(claims.spend(row(slow), 3, new Attempt()));
    for (int tenth = 0; tenth < 200; tenth++) {
      assertThat(retryAt(claims.spend(row(slow), 1, new Attempt())))
          .as("tenth " + tenth)
          .isEqualTo(second(21));
      ports.clock().advance(Duration.ofMillis(100));
    }
    granted(claims.spend(row(slow), 1, new Attempt()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void drained_hibernating_bucket_refuses_until_its_next_token(boolean isWoken) {
    BucketId asleep = open("asleep", "10", 10);
    ports.pass(20);
    assertThat(row(asleep).isHibernating()).isTrue();
    if (!isWoken) {
      ports.requests().begin();
    }
    granted(claims.spend(row(asleep), 10, new Attempt()));
    assertThat(row(asleep).isHibernating()).isEqualTo(!isWoken);

    Instant told = retryAt(claims.spend(row(asleep), 1, new Attempt()));

    assertThat(told).isEqualTo(ports.clock().instant().plusSeconds(7));
    ports.passUntil(told);
    assertThat(claims.spend(row(asleep), 1, new Attempt()) instanceof Granted).isEqualTo(isWoken);
  }

  /** Uses random rates, instants and numbers of tokens; schedules fire up to 5 s late. */
  @Test
  void lone_caller_is_granted_at_retryAt_at_any_rate_without_unneeded_delay() {
    for (long seed = 1; seed <= 300; seed++) {
      Random random = new Random(seed);
      AdmissionFixture lonely = new AdmissionFixture();
      Claims own = lonely.claims();
      BucketId id = new BucketId(acme.id(), bucket.action());
      Rate rate =
          Rate.perMinute(BigDecimal.valueOf(1 + random.nextInt(3_000), 1 + random.nextInt(2)));
      int capacity = Math.toIntExact(Math.max(1, rate.ceiling()));
      lonely.open(id, new BucketSpec(rate, capacity));
      lonely.pass(3);
      lonely.clock().advance(Duration.ofMillis(random.nextInt(60_000 - 5_000)));
      own.spendUpTo(id, lonely.buckets().find(id), Math.min(capacity, Claims.MAX_TOKENS));
      Instant asked = lonely.clock().instant();
      int n = 1 + random.nextInt(capacity);
      ClaimResult claim = own.spend(lonely.buckets().find(id).orElseThrow(), n, new Attempt());
      if (claim instanceof Granted) {
        continue;
      }
      Instant told = retryAt(claim);

      lonely.passUntil(told);

      assertThat(own.spend(lonely.buckets().find(id).orElseThrow(), n, new Attempt()))
          .as("seed %d: %d of %s, retryAt %s", seed, n, rate, told)
          .isInstanceOf(Granted.class);
      double minutes = n / rate.tokensPerMinute().doubleValue();
      assertThat(told)
          .as("seed %d: %d of %s", seed, n, rate)
          .isBeforeOrEqualTo(asked.plusMillis((long) (minutes * 60_000) + 2_000));
    }
  }

  // Outages.

  @Test
  void failing_queue_leaves_the_claim_undecided() {
    ports.queue().outage().begin();
    assertThat(claim(1)).isInstanceOf(Undecided.class);
    assertThat(claim(15)).isInstanceOf(Undecided.class);
    assertThat(upTo(15).shortfall().orElseThrow()).isInstanceOf(Undecided.class);
  }

  @Test
  void lack_of_credentials_is_not_an_outage_of_the_queue() {
    ports.queue().outage().beginWithoutCredentials();
    assertThat(((Undecided) claim(1)).isOutage()).isFalse();
    assertThat(((Undecided) claim(15)).isOutage()).isFalse();
    assertThat(((Undecided) upTo(15).shortfall().orElseThrow()).isOutage()).isFalse();
  }

  @Test
  void empty_hint_refuses_claims_while_the_queue_fails() {
    BucketId slow = open("slow", "0.2", 1);
    granted(claims.spend(row(slow), 1, new Attempt()));
    claims.spend(row(slow), 1, new Attempt());
    ports.queue().outage().begin();

    for (int i = 0; i < 1_000; i++) {
      Claims otherProcess = claims(ports.buckets(), ports.queue(), pauses::add);
      assertThat(otherProcess.hold(row(slow), 1, otherProcess.firstTry(slow)))
          .isInstanceOf(Denied.class);
      assertThat(otherProcess.spendUpTo(slow, Optional.of(row(slow)), 1).shortfall().orElseThrow())
          .isInstanceOf(Denied.class);
    }
  }

  @Test
  void empty_answer_before_a_failure_is_a_refusal() {
    claim(60);
    ports.queue().outage().begin("countTokens");
    assertThat(claim(1)).isInstanceOf(Denied.class);
  }

  @Test
  void failing_write_of_the_row_does_not_admit() {
    claim(60);
    ports.buckets().outage().begin("rememberEmpty", "replace");
    assertThat(claims.spend(row(), 1, new Attempt())).isInstanceOf(Denied.class);
  }

  @Test
  void failing_fill_request_does_not_admit() {
    ports.requests().begin();
    claim(60);
    for (int i = 0; i < 200; i++) {
      assertThat(claim(1)).isInstanceOf(Denied.class);
      ports.clock().advance(Duration.ofMillis(300));
    }
  }

  @Test
  void unanswered_settling_leaves_the_claim_undecided() {
    ports.queue().outage().begin("settle");
    assertThat(claim(1)).isEqualTo(new Undecided("settle: out of order", true));
  }

  @Test
  void token_that_was_not_spent_refuses_its_claim_until_the_lease_ends() {
    TokenQueue unauthorized =
        watched(
            TokenQueue.class,
            ports.queue(),
            (method, arguments) -> {
              if (method.equals("settle")) {
                throw new NoCredentials(new Unavailable("assume role: out of order"));
              }
            });
    ClaimResult claim =
        claims(ports.buckets(), unauthorized, pauses::add).spend(row(), 1, new Attempt());
    assertThat(claim).isEqualTo(new Denied(ports.clock().instant().plus(Claims.LEASE)));
  }

  @Test
  void one_false_empty_receive_does_not_refuse() {
    ports.queue().findNothingOnce();
    granted(claim(25));
  }

  @Test
  void claim_that_gets_too_few_by_a_long_poll_refuses_others_of_its_size() {
    claim(59);
    ports.queue().findNothingOnce();
    ClaimResult refused = claim(2);
    requests.clear();

    assertThat(claim(2)).isInstanceOf(Denied.class).isEqualTo(refused);
    assertThat(requests).isEmpty();
  }

  @Test
  void receive_that_fails_does_not_lose_the_tokens_of_the_others() {
    AtomicInteger receives = new AtomicInteger();
    TokenQueue failingOnce =
        watched(
            TokenQueue.class,
            ports.queue(),
            (method, arguments) -> {
              if (method.equals("reserve") && receives.incrementAndGet() == 1) {
                throw new Unavailable("receive: out of order");
              }
            });

    SpendResult spent =
        claims(ports.buckets(), failingOnce, pauses::add).spendUpTo(bucket, Optional.of(row()), 25);

    assertThat(spent.tokens()).isEqualTo(15);
    assertThat(ports.queue().inFlight(bucket)).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void unexpected_failure_of_a_receive_reaches_the_caller(boolean isFatal) {
    Throwable failure = isFatal ? new AssertionError("lost") : new IllegalStateException("lost");
    TokenQueue failing =
        watched(
            TokenQueue.class,
            ports.queue(),
            (method, arguments) -> {
              if (failure instanceof Error fatal) {
                throw fatal;
              }
              throw (RuntimeException) failure;
            });
    Claims one = claims(ports.buckets(), failing, pauses::add);

    assertThatThrownBy(() -> one.spend(row(), 1, new Attempt())).isSameAs(failure);
  }

  // Hibernating buckets.

  @Test
  void
      two_hundred_at_a_sleeping_bucket_of_ten_are_twenty_at_most_while_fills_cannot_be_requested() {
    BucketId asleep = open("asleep", "10", 10);
    ports.pass(20);
    assertThat(row(asleep).isHibernating()).isTrue();
    ports.requests().begin();

    int admitted = 0;
    for (int i = 0; i < 200; i++) {
      ClaimResult claim = claims.hold(row(asleep), 1, claims.firstTry(asleep));
      assertThat(claim).as("the " + i + "th").isNotInstanceOf(Undecided.class);
      if (claim instanceof Granted granted) {
        assertThat(claims.held().settle(granted)).isInstanceOf(SettleResult.Spent.class);
        admitted++;
      }
      ports.clock().advance(Duration.ofMillis(300));
    }

    assertThat(admitted).isEqualTo(10);
  }

  @Test
  void hibernating_bucket_with_expired_tokens_refuses_if_it_cannot_be_woken() {
    BucketId asleep = open("asleep", "10", 10);
    ports.pass(20);
    ports.clock().advance(Duration.ofDays(20));
    ports.requests().begin();
    assertThat(claims.hold(row(asleep), 1, claims.firstTry(asleep))).isInstanceOf(Denied.class);
  }

  @Test
  void full_hibernating_bucket_grants_at_once_and_is_woken() {
    BucketId asleep = open("asleep", "10", 10);
    ports.pass(20);
    assertThat(claims.hold(row(asleep), 1, claims.firstTry(asleep))).isInstanceOf(Granted.class);
    assertThat(row(asleep).isHibernating()).isFalse();
    assertThat(ports.queue().level(asleep)).isEqualTo(10);
  }

  @Test
  void failure_before_the_bucket_was_woken_does_not_count_once_the_queue_has_answered() {
    BucketId asleep = open("asleep", "10", 10);
    ports.pass(20);
    ports.clock().advance(Duration.ofDays(20));
    FillRequests lost =
        new FillRequests() {
          @Override
          public void send(BucketId id) {}

          @Override
          public void sendAndWait(BucketId id) {
            ports.queue().outage().end();
          }
        };
    Claims one =
        new Claims(ports.buckets(), ports.queue(), lost, Runnable::run, pauses::add, ports.clock());
    ports.queue().outage().begin();

    assertThat(one.hold(row(asleep), 1, one.firstTry(asleep))).isInstanceOf(Denied.class);
  }

  @Test
  void woken_bucket_replaces_expired_tokens() {
    BucketId asleep = open("asleep", "10", 10);
    ports.pass(20);
    ports.clock().advance(Duration.ofDays(20));
    TokenQueue behind =
        watched(
            TokenQueue.class, ports.queue(), (method, arguments) -> failOn(method, "countTokens"));
    Claims one = claims(ports.buckets(), behind, pauses::add);

    assertThat(one.hold(row(asleep), 1, one.firstTry(asleep))).isInstanceOf(Granted.class);
  }

  private static void failOn(String method, String failing) {
    if (method.equals(failing)) {
      throw new Unavailable("no answer");
    }
  }

  @Test
  void woken_bucket_with_expired_tokens_has_its_capacity() {
    BucketId asleep =
        open(
            "asleep",
            new BucketSpec(
                Rate.perMinute(10), 100, new FillPolicy(FillMode.PRODUCER, 7 * 24 * 60)));
    ports.pass(7 * 24 * 60 + 1);
    assertThat(row(asleep).isHibernating()).isTrue();
    ports.clock().advance(Duration.ofDays(7));
    assertThat(ports.queue().level(asleep)).as("level after a fortnight").isZero();

    granted(claims.spend(row(asleep), 100, new Attempt()));
  }

  // Missing queues.

  @ParameterizedTest
  @EnumSource
  void missing_queue_refuses_and_its_tenant_is_reconciled(FillMode mode) {
    BucketId id = open("missing", new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(mode, 0)));
    ports.pass(30);
    settle(id);
    ports.queue().delete(id);

    for (int i = 0; i < 200; i++) {
      assertThat(retryAt(claims.hold(row(id), 1, claims.firstTry(id))))
          .isBetween(
              ports.clock().instant().plusSeconds(60), ports.clock().instant().plusSeconds(61));
    }
    assertThat(retryAt(claims.spend(row(id), 3, new Attempt()))).isAfter(ports.clock().instant());
    assertThat(claims.spendUpTo(id, Optional.of(row(id)), 3).shortfall().orElseThrow())
        .isInstanceOf(Denied.class);

    assertThat(ports.tenants().find(id.tenant()).orElseThrow().isSettled()).isFalse();
  }

  @Test
  void missing_queue_of_a_new_bucket_refuses_for_a_second_only() {
    BucketId id = open("fresh", BucketSpec.ofRate(Rate.perMinute(6)));
    settle(id);
    ports.queue().delete(id);

    for (int i = 0; i < 5; i++) {
      assertThat(retryAt(claims.spend(row(id), 1, new Attempt())))
          .isEqualTo(ports.clock().instant().plusSeconds(1));
      ports.clock().advance(Duration.ofSeconds(1));
    }
    assertThat(ports.tenants().find(id.tenant()).orElseThrow().isSettled()).isTrue();

    claims.spend(row(id), 1, new Attempt());
    assertThat(ports.tenants().find(id.tenant()).orElseThrow().isSettled()).isFalse();
  }

  @Test
  void queue_lost_while_tokens_are_pending_has_its_tenant_reconciled() {
    claim(60);
    claim(1);
    assertThat(row().at(ports.clock().instant()).needsFill()).isFalse();
    settle(bucket);
    ports.queue().delete(bucket);
    ports.clock().advance(Duration.ofSeconds(10));

    assertThat(claim(1)).isInstanceOf(Denied.class);

    assertThat(ports.tenants().find(acme.id()).orElseThrow().isSettled()).isFalse();
  }

  private void settle(BucketId id) {
    ports
        .tenants()
        .markObserved(id.tenant(), ports.tenants().find(id.tenant()).orElseThrow().version());
    assertThat(ports.tenants().find(id.tenant()).orElseThrow().isSettled()).isTrue();
  }

  @Test
  void missing_row_refuses_for_a_minute() {
    ports.buckets().remove(bucket);
    ports.queue().delete(bucket);
    assertThat(retryAt(claims.hold(bucket, claims.firstTry(bucket)))).isEqualTo(second(60));
    assertThat(claims.spendUpTo(bucket, Optional.empty(), 1).shortfall())
        .contains(new Denied(second(60)));
  }

  // Leases.

  @Test
  void held_token_can_be_given_back() {
    Granted held = granted(claims.hold(row(), 5, new Attempt(Duration.ofSeconds(10))));
    assertThat(available()).isEqualTo(55);
    claims.held().giveBack(held);
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void token_whose_lease_has_ended_cannot_be_spent() {
    Granted held = granted(claims.hold(row(), 5, new Attempt(Duration.ofSeconds(10))));
    ports.clock().advance(Duration.ofSeconds(10));
    assertThat(claims.held().settle(held)).isInstanceOf(SettleResult.Lapsed.class);
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void settling_answered_after_the_lease_has_ended_counts_as_not_spent() {
    TokenQueue slow =
        watched(
            TokenQueue.class,
            ports.queue(),
            (method, arguments) ->
                ports
                    .clock()
                    .advance(method.equals("settle") ? Duration.ofSeconds(3) : Duration.ZERO));
    Claims one = claims(ports.buckets(), slow, pauses::add);
    Granted held = granted(one.hold(row(), 1, new Attempt(Duration.ofSeconds(10))));
    ports.clock().advance(Duration.ofSeconds(8));

    assertThat(one.held().settle(held)).isInstanceOf(SettleResult.Lapsed.class);
  }

  @Test
  void very_large_claim_does_not_outlive_its_lease() {
    BucketId large = open("large", "10000", 10_000);
    TokenQueue slow =
        watched(
            TokenQueue.class,
            ports.queue(),
            (method, arguments) ->
                ports
                    .clock()
                    .advance(
                        Duration.ofMillis(
                            method.equals("reserve")
                                ? 50
                                : method.equals("settle")
                                    ? 5L * ((List<?>) arguments.get(1)).size()
                                    : 0)));
    Claims one = claims(ports.buckets(), slow, pauses::add);

    granted(
        one.spend(
            row(large), Claims.MAX_TOKENS, new Attempt(Claims.leaseToSpend(Claims.MAX_TOKENS))));

    assertThat(ports.queue().level(large)).isZero();
  }

  // Claims of up to n tokens.

  private SpendResult upTo(int n) {
    return claims.spendUpTo(bucket, Optional.of(row()), n);
  }

  @Test
  void claim_of_up_to_n_spends_n_in_requests_of_ten() {
    assertThat(upTo(25)).isEqualTo(new SpendResult(25, Optional.empty()));
    assertThat(ports.queue().level(bucket)).isEqualTo(35);
    assertThat(requests)
        .containsExactly("reserve SHORT", "reserve SHORT", "reserve SHORT", "settle");
  }

  @Test
  void claim_of_up_to_n_spends_available_tokens_and_returns_when_the_rest_is_due() {
    claim(55);
    SpendResult spent = upTo(8);
    assertThat(spent.tokens()).isEqualTo(5);
    assertThat(spent.shortfall()).contains(new Denied(second(4)));
  }

  @Test
  void claim_of_up_to_n_does_not_count_its_own_tokens_as_held_by_others() {
    BucketId slow = open("slow", "0.2", 5);
    assertThat(claims.spendUpTo(slow, Optional.of(row(slow)), 8).tokens()).isEqualTo(5);
    assertThat(row(slow).emptyHint())
        .contains(new EmptyHint(AdmissionFixture.START, AdmissionFixture.START.plusSeconds(10), 0));
  }

  @Test
  void claim_of_up_to_n_is_retried_after_one_false_empty_receive() {
    ports.queue().findNothingOnce();
    assertThat(upTo(10).tokens()).isEqualTo(10);
  }

  @Test
  void failed_write_of_an_empty_hint_does_not_change_the_answer() {
    claim(55);
    ports.buckets().outage().begin("rememberEmpty");
    assertThat(upTo(8).tokens()).isEqualTo(5);
    assertThat(upTo(8).shortfall().orElseThrow()).isInstanceOf(Denied.class);
  }

  @Test
  void tokens_that_cannot_be_spent_count_as_not_spent() {
    ports.queue().outage().begin("settle");
    assertThat(upTo(3).tokens()).isZero();
    assertThat(upTo(3).shortfall().orElseThrow()).isInstanceOf(Denied.class);
  }

  @Test
  void tokens_of_a_long_poll_that_cannot_be_spent_do_not_count_the_bucket_as_empty() {
    ports.queue().findNothingOnce();
    ports.queue().outage().begin("settle");

    assertThat(upTo(3).tokens()).isZero();

    assertThat(row().emptyHint()).isEmpty();
  }

  @Test
  void held_tokens_are_spent_if_the_queue_stops_answering() {
    AtomicInteger receives = new AtomicInteger();
    TokenQueue failing =
        watched(
            TokenQueue.class,
            ports.queue(),
            (method, arguments) -> {
              if (method.equals("reserve") && receives.incrementAndGet() > 1) {
                throw new Unavailable("receive: out of order");
              }
            });
    SpendResult spent =
        claims(ports.buckets(), failing, pauses::add).spendUpTo(bucket, Optional.of(row()), 25);
    assertThat(spent.tokens()).isEqualTo(10);
    assertThat(spent.shortfall().orElseThrow()).isInstanceOf(Denied.class);
    assertThat(ports.queue().level(bucket)).isEqualTo(50);
  }

  @Test
  void tokens_put_back_are_available_unless_the_queue_fails() {
    ports.requests().begin();
    claim(60);
    claims.held().putBack(bucket, 12);
    assertThat(available()).isEqualTo(12);
    ports.queue().outage().begin();
    claims.held().putBack(bucket, 1);
    ports.queue().outage().end();
    assertThat(available()).isEqualTo(12);
  }

  @Test
  void spent_tokens_of_a_claim_can_be_put_back_by_an_interrupted_thread() {
    Granted spent = granted(claim(12));
    Thread.currentThread().interrupt();

    claims.held().putBack(spent);

    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    assertThat(available()).isEqualTo(60);
  }

  // Bad input.

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 61, Integer.MAX_VALUE})
  void claim_beyond_the_capacity_is_rejected_without_changes(int n) {
    Bucket read = row();
    String message = "tokens: " + n + " (expected: 1 to 60)";
    assertThatThrownBy(() -> claims.spend(read, n, new Attempt()))
        .isInstanceOf(InvalidValue.class)
        .hasMessage(message);
    assertThatThrownBy(() -> claims.hold(read, n, new Attempt())).hasMessage(message);
    assertThat(requests).isEmpty();
    assertThat(available()).isEqualTo(60);
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 10_001, 100_001, Integer.MAX_VALUE})
  void claim_of_up_to_a_number_out_of_range_is_rejected_without_changes(int n) {
    for (Optional<Bucket> read : Set.of(Optional.of(row()), Optional.<Bucket>empty())) {
      assertThatThrownBy(() -> claims.spendUpTo(bucket, read, n))
          .isInstanceOf(InvalidValue.class)
          .hasMessage("tokens: " + n + " (expected: 1 to 10000)");
    }
    assertThat(requests).isEmpty();
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void lease_out_of_range_is_rejected_without_changes() {
    for (Duration lease :
        List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(12 * 3_600 + 1))) {
      assertThatThrownBy(() -> claims.hold(row(), 1, new Attempt(lease)))
          .isInstanceOf(InvalidValue.class)
          .hasMessage("lease: " + lease.toSeconds() + " (expected: 1 to 43200)");
    }
    assertThat(requests).isEmpty();
  }

  @Test
  void maximum_of_tokens_per_claim_applies_to_large_buckets() {
    BucketId large = open("large", "60000", 100_000);
    assertThatThrownBy(() -> claims.spend(row(large), 10_001, new Attempt()))
        .hasMessage("tokens: 10001 (expected: 1 to 10000)");
    assertThat(claims.spendUpTo(large, Optional.of(row(large)), 10_000).tokens()).isEqualTo(10_000);
  }
}

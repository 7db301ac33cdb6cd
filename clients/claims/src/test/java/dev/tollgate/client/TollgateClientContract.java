package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of {@link TollgateClient}. */
public abstract class TollgateClientContract {
  private static final String ACTION = "send-email";

  /** Unique for each test, so that tests can share a deployment. */
  private final String tenant = "t-" + UUID.randomUUID().toString().substring(0, 8);

  private final Events events = new Events();
  private TollgateClient tollgate = new InMemoryTollgate();
  private TokenBucket bucket = tollgate.bucket(tenant, ACTION);

  /** Opens a client of a deployment that has no buckets. */
  protected abstract TollgateClient open(ClaimListener listener);

  /** Adds a full bucket to the deployment, and a {@code connect} bucket for its tenant. */
  protected abstract void put(String tenantId, String action, double ratePerMinute, long capacity);

  /** Adds a full bucket of a tenant that exists, whose day begins at midnight in UTC. */
  protected abstract void putDaily(String tenantId, String action, long capacity);

  /** The time of the client's clock. */
  protected abstract Instant now();

  /** Advances the client's clock, and fills buckets as their schedules would. */
  protected abstract void advance(Duration by);

  @BeforeEach
  final void openClient() {
    tollgate = open(events);
    put(tenant, ACTION, 1, 20);
    bucket = tollgate.bucket(tenant, ACTION);
  }

  @AfterEach
  final void closeClient() {
    tollgate.close();
  }

  private static Claim.Denied denied(Object answer) {
    assertThat(answer).isInstanceOf(Claim.Denied.class);
    return (Claim.Denied) answer;
  }

  private static Reservation reservation(ReserveResult answer) {
    assertThat(answer).isInstanceOf(Reservation.class);
    return (Reservation) answer;
  }

  private static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  // Claims

  @Test
  void claim_spends_all_its_tokens_or_none() {
    assertThat(bucket.tryClaim(15)).isEqualTo(new Claim.Granted(15));
    denied(bucket.tryClaim(15));
    assertThat(bucket.tryClaim(4)).isEqualTo(new Claim.Granted(4));
    assertThat(bucket.tryClaim()).isEqualTo(new Claim.Granted(1));
    denied(bucket.tryClaim());
  }

  @Test
  void denied_claim_succeeds_at_retryAt() {
    bucket.tryClaim(20);

    Instant retryAt = denied(bucket.tryClaim(2)).retryAt();

    assertThat(retryAt).isBetween(now().plusSeconds(120), now().plusSeconds(123));
    advance(Duration.between(now(), retryAt));
    assertThat(bucket.tryClaim(2)).isEqualTo(new Claim.Granted(2));
  }

  @Test
  void claim_of_up_to_n_spends_the_available_tokens() {
    assertThat(bucket.claimUpTo(15)).isEqualTo(new Claimed(15, Optional.empty()));

    Claimed rest = bucket.claimUpTo(10_000);

    assertThat(rest.tokens()).isEqualTo(5);
    assertThat(denied(rest.shortfall().orElseThrow()).retryAt()).isAfter(now());
    assertThat(bucket.claimUpTo(1).tokens()).isZero();
  }

  @Test
  void four_concurrent_claims_for_fifteen_of_twenty_grant_one() {
    List<CompletionStage<Claim>> claims =
        Stream.generate(() -> bucket.tryClaimAsync(15)).limit(4).toList();

    assertThat(claims.stream().map(TollgateClientContract::join))
        .filteredOn(Claim.Granted.class::isInstance)
        .hasSize(1);
    assertThat(bucket.tryClaim(5)).isEqualTo(new Claim.Granted(5));
  }

  // Several buckets

  /** Twenty concurrent claims of both buckets; returns how many were granted. */
  private long claimsOfBoth() {
    List<CompletableFuture<Claim>> claims =
        Stream.generate(
                () ->
                    CompletableFuture.supplyAsync(
                        () -> tollgate.tryClaimEach(tenant, List.of("minute", "day"), 1)))
            .limit(20)
            .toList();
    return claims.stream()
        .map(CompletableFuture::join)
        .filter(Claim.Granted.class::isInstance)
        .count();
  }

  @Test
  void concurrent_claims_of_two_buckets_spend_from_both_or_from_neither() {
    put(tenant, "minute", 10, 10);
    putDaily(tenant, "day", 25);

    assertThat(claimsOfBoth()).isEqualTo(10);
    advance(Duration.ofSeconds(62));
    assertThat(claimsOfBoth()).isEqualTo(10);
    advance(Duration.ofSeconds(62));
    assertThat(claimsOfBoth()).isEqualTo(5);
    assertThat(tollgate.bucket(tenant, "minute").claimUpTo(10).tokens()).isEqualTo(5);
    advance(Duration.ofSeconds(62));
    Claim.Denied refused = denied(tollgate.tryClaimEach(tenant, List.of("minute", "day"), 1));
    assertThat(refused.retryAt())
        .isEqualTo(now().truncatedTo(ChronoUnit.DAYS).plus(1, ChronoUnit.DAYS).plusSeconds(1));
    assertThat(tollgate.bucket(tenant, "minute").claimUpTo(20).tokens()).isEqualTo(10);
  }

  @Test
  void claim_of_several_buckets_checks_its_arguments_first() {
    assertThatThrownBy(() -> tollgate.tryClaimEach(tenant, List.of(), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("actions");
    assertThatThrownBy(() -> tollgate.tryClaimEach(tenant, List.of("day", "Day"), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Day");
    assertThatThrownBy(() -> tollgate.tryClaimEach(tenant, List.of("day"), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("tokens: 0");
  }

  // The line

  /** A drained bucket of a token a second. */
  private TokenBucket drained(String action) {
    put(tenant, action, 60, 30);
    TokenBucket burst = tollgate.bucket(tenant, action);
    assertThat(burst.tryClaim(30)).isEqualTo(new Claim.Granted(30));
    return burst;
  }

  private static Place place(Claim answer) {
    return denied(answer).place().orElseThrow();
  }

  private void advanceTo(Instant then) {
    if (then.isAfter(now())) {
      advance(Duration.between(now(), then));
    }
  }

  @Test
  void concurrent_refused_callers_get_slots_of_their_own_and_are_admitted_at_their_first_return() {
    TokenBucket burst = drained("burst");

    List<CompletionStage<Claim>> claims =
        Stream.generate(() -> burst.claimInLineAsync()).limit(40).toList();
    List<Claim.Denied> refused =
        claims.stream()
            .map(TollgateClientContract::join)
            .map(TollgateClientContract::denied)
            .sorted(Comparator.comparing(Claim.Denied::retryAt))
            .toList();

    assertThat(refused).extracting(Claim.Denied::retryAt).doesNotHaveDuplicates();
    assertThat(refused).extracting(Claim.Denied::place).doesNotHaveDuplicates();
    assertThat(refused.get(39).retryAt()).isBeforeOrEqualTo(now().plusSeconds(43));
    for (Claim.Denied each : refused) {
      advanceTo(each.retryAt());
      assertThat(burst.claim(each.place().orElseThrow()))
          .as("%s", each)
          .isEqualTo(new Claim.Granted(1));
    }
  }

  @Test
  void early_caller_is_refused_with_the_same_place_and_slot() {
    TokenBucket burst = drained("early");
    Claim.Denied first = denied(burst.claimInLine());
    Claim.Denied second = denied(join(burst.claimInLineAsync()));

    assertThat(burst.claim(second.place().orElseThrow())).isEqualTo(second);
    advanceTo(first.retryAt());
    assertThat(join(burst.claimAsync(second.place().orElseThrow()))).isEqualTo(second);

    assertThat(burst.claim(first.place().orElseThrow())).isEqualTo(new Claim.Granted(1));
  }

  @Test
  void caller_with_a_key_has_one_place_at_a_time() {
    TokenBucket burst = drained("reloaded");
    Claim.Denied first = denied(burst.claimInLine("ann"));
    for (int i = 0; i < 50; i++) {
      assertThat(burst.claimInLine("ann")).isEqualTo(first);
    }
    List<CompletionStage<Claim>> claims =
        Stream.generate(() -> burst.claimInLineAsync("bob")).limit(20).toList();
    claims.forEach(TollgateClientContract::join);
    Claim.Denied second = denied(burst.claimInLine("bob"));
    assertThat(second.place().orElseThrow().number())
        .isEqualTo(first.place().orElseThrow().number() + 1);

    Claim.Denied third = denied(burst.claimInLine("eve"));
    assertThat(third.place().orElseThrow().number())
        .isEqualTo(second.place().orElseThrow().number() + 1);
    for (Claim.Denied each : List.of(first, second)) {
      advanceTo(each.retryAt());
      assertThat(burst.claimInLine(each.equals(first) ? "ann" : "bob"))
          .isEqualTo(new Claim.Granted(1));
    }
    assertThat(denied(burst.claimInLine("ann")).retryAt()).isAfter(third.retryAt());
  }

  @Test
  void key_of_a_caller_is_not_empty() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bucket.claimInLine(""))
        .withMessage("caller:  (expected: a key)");
    assertThatNothingHappened();
  }

  @Test
  void claims_without_a_place_do_not_overtake() {
    TokenBucket burst = drained("passing");
    Claim.Denied waiting = denied(burst.claimInLine());
    advanceTo(waiting.retryAt());

    Claim.Denied passing = denied(burst.tryClaim());
    assertThat(passing.place()).isEmpty();
    assertThat(passing.retryAt()).isAfter(waiting.retryAt());
    denied(burst.tryClaim(2));
    assertThat(burst.claimUpTo(5).tokens()).isZero();
    denied(burst.reserve(1, Duration.ofMinutes(1)));

    advanceTo(passing.retryAt());
    assertThat(burst.tryClaim()).isEqualTo(new Claim.Granted(1));
    assertThat(burst.claim(waiting.place().orElseThrow())).isEqualTo(new Claim.Granted(1));
  }

  @Test
  void claims_for_several_tokens_are_granted_when_nobody_waits() {
    TokenBucket burst = drained("several");
    Claim.Denied waiting = denied(burst.claimInLine());
    Instant retryAt = denied(burst.tryClaim(3)).retryAt();
    assertThat(retryAt).isAfter(waiting.retryAt().plusSeconds(1));

    advanceTo(waiting.retryAt());
    assertThat(burst.claim(waiting.place().orElseThrow())).isEqualTo(new Claim.Granted(1));
    advanceTo(retryAt);

    assertThat(burst.tryClaim(3)).isEqualTo(new Claim.Granted(3));
  }

  @Test
  void redeemed_place_admits_once() {
    TokenBucket burst = drained("redeemed");
    Claim.Denied first = denied(burst.claimInLine());
    Claim.Denied second = denied(burst.claimInLine());
    advanceTo(second.retryAt());
    Place redeemed = first.place().orElseThrow();
    assertThat(burst.claim(redeemed)).isEqualTo(new Claim.Granted(1));

    Claim.Denied again = denied(burst.claim(redeemed));

    assertThat(again.place()).isPresent().isNotEqualTo(first.place());
    assertThat(again.retryAt()).isAfter(second.retryAt());
    assertThat(burst.claim(second.place().orElseThrow())).isEqualTo(new Claim.Granted(1));
  }

  @Test
  void concurrent_claims_with_one_place_are_granted_once() {
    TokenBucket burst = drained("doubled");
    Place place = place(burst.claimInLine());
    List<Claim.Denied> behind =
        Stream.generate(() -> burst.claimInLine())
            .limit(2)
            .map(TollgateClientContract::denied)
            .toList();
    // So early that no token counts as spare.
    advanceTo(behind.get(1).retryAt());

    List<CompletionStage<Claim>> claims =
        Stream.generate(() -> burst.claimAsync(place)).limit(8).toList();

    assertThat(claims.stream().map(TollgateClientContract::join))
        .filteredOn(Claim.Granted.class::isInstance)
        .hasSize(1);
    behind.forEach(
        each ->
            assertThat(burst.claim(each.place().orElseThrow())).isEqualTo(new Claim.Granted(1)));
  }

  @Test
  void place_that_is_void_counts_as_none() {
    TokenBucket burst = drained("void");
    Place late = place(burst.claimInLine());
    advance(Duration.ofMinutes(2));
    assertThat(burst.claimUpTo(30).tokens()).isEqualTo(30);
    Place present = place(burst.claimInLine());
    assertThat(present.line()).isGreaterThan(late.line());

    for (Place none :
        List.of(
            late,
            new Place(tenant, "void", present.line(), present.number() + 100),
            new Place(tenant, "void", present.line() + 100, 1),
            new Place(tenant, "void", Long.MAX_VALUE, Long.MAX_VALUE))) {
      Place taken = place(burst.claim(none));
      assertThat(taken.line()).as("%s", none).isEqualTo(present.line());
      assertThat(taken.number())
          .as("%s", none)
          .isBetween(present.number() + 1, present.number() + 4);
    }
  }

  @Test
  void place_of_another_bucket_is_rejected() {
    Place foreign = place(drained("foreign").claimInLine());

    assertThatIllegalArgumentException()
        .isThrownBy(() -> bucket.claim(foreign))
        .withMessage(
            "place: %s (expected: a place of tenant %s, action send-email)", foreign, tenant);
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  // Reservations

  @Test
  void reservation_closed_without_spending_returns_its_tokens() {
    try (Reservation reservation = reservation(bucket.reserve(20))) {
      assertThat(reservation.tokens()).isEqualTo(20);
      assertThat(reservation.endsAt()).isAfter(now()).isBeforeOrEqualTo(now().plusSeconds(30));
      denied(bucket.tryClaim());
    }
    advance(Duration.ofSeconds(2));
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  @Test
  void spent_reservation_returns_no_tokens() {
    try (Reservation reservation = reservation(bucket.reserve(20))) {
      assertThat(reservation.spend()).isEqualTo(new Settlement.Spent());
      assertThatIllegalStateException()
          .isThrownBy(reservation::spend)
          .withMessageContaining("spent");
    }
    advance(Duration.ofSeconds(2));
    denied(bucket.tryClaim(20));
  }

  @Test
  void returned_reservation_cannot_be_spent() {
    Reservation reservation = reservation(bucket.reserve(1));
    reservation.close();
    reservation.close();

    assertThatIllegalStateException()
        .isThrownBy(reservation::spend)
        .withMessageContaining("returned");
    assertThat(events.all).containsExactly("reserved 1", "returned 1");
  }

  @Test
  void reservation_whose_lease_has_ended_is_not_spent() {
    Reservation reservation = reservation(bucket.reserve(20, Duration.ofSeconds(5)));
    advance(Duration.ofSeconds(6));

    assertThat(reservation.spend()).isEqualTo(new Settlement.Lapsed());
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  @Test
  void reservation_of_more_than_available_holds_nothing() {
    bucket.tryClaim(10);
    denied(bucket.reserve(11));
    assertThat(bucket.tryClaim(10)).isEqualTo(new Claim.Granted(10));
  }

  // Asynchronous calls

  @Test
  void asynchronous_calls_return_the_same_as_synchronous_ones() {
    assertThat(join(bucket.tryClaimAsync())).isEqualTo(new Claim.Granted(1));
    assertThat(join(bucket.tryClaimAsync(2))).isEqualTo(new Claim.Granted(2));
    assertThat(join(bucket.claimUpToAsync(3)).tokens()).isEqualTo(3);
    reservation(join(bucket.reserveAsync(4))).close();
    assertThat(reservation(join(bucket.reserveAsync(4, Duration.ofSeconds(9)))).spend())
        .isEqualTo(new Settlement.Spent());
    assertThat(bucket.tryClaim(10)).isEqualTo(new Claim.Granted(10));
    denied(join(bucket.tryClaimAsync()));
  }

  @Test
  void asynchronous_calls_fail_where_synchronous_ones_throw() {
    for (CompletionStage<?> stage :
        List.of(
            bucket.tryClaimAsync(0),
            bucket.claimUpToAsync(0),
            bucket.reserveAsync(0),
            tollgate.bucket(tenant, "nonsense").tryClaimAsync())) {
      assertThatThrownBy(() -> join(stage))
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void reservation_of_a_cancelled_stage_is_returned() throws Exception {
    CompletableFuture<CompletionStage<ReserveResult>> stage = new CompletableFuture<>();
    CountDownLatch called = new CountDownLatch(2);
    events.atEachEvent =
        () -> {
          join(stage).toCompletableFuture().cancel(true);
          called.countDown();
        };
    stage.complete(bucket.reserveAsync(20, Duration.ofHours(12)));

    assertThat(called.await(10, TimeUnit.SECONDS)).as("%s", events.all).isTrue();
    assertThat(events.all).containsExactly("reserved 20", "returned 20");
    advance(Duration.ofSeconds(2));
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  // Listeners

  @Test
  void listener_receives_all_events() {
    bucket.tryClaim(5);
    bucket.tryClaim(16);
    reservation(bucket.reserve(3)).spend();
    reservation(bucket.reserve(2)).close();
    bucket.claimUpTo(20);
    bucket.claim(place(bucket.claimInLine()));

    assertThat(events.all)
        .containsExactly(
            "claimed 5",
            "denied 16",
            "reserved 3",
            "settled 3 Spent",
            "reserved 2",
            "returned 2",
            "claimed 12",
            "denied 8",
            "denied 1",
            "denied 1");
    assertThat(events.calls)
        .allSatisfy(
            call -> {
              assertThat(call.tenantId() + " " + call.action()).isEqualTo(tenant + " send-email");
              assertThat(call.took()).isPositive();
            });
  }

  @Test
  void exception_of_a_listener_changes_nothing() {
    events.atEachEvent =
        () -> {
          throw new IllegalArgumentException("planted");
        };
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
    denied(bucket.tryClaim());
  }

  @Test
  void error_of_a_listener_changes_nothing() {
    events.atEachEvent =
        () -> {
          throw new AssertionError("planted");
        };
    assertThat(bucket.tryClaim(5)).isEqualTo(new Claim.Granted(5));
    assertThat(reservation(bucket.reserve(15)).spend()).isEqualTo(new Settlement.Spent());
    denied(bucket.tryClaim());
  }

  @Test
  void virtual_machine_error_in_the_listener_returns_the_reservation() {
    events.atEachEvent =
        () -> {
          throw new StackOverflowError("planted");
        };
    assertThatThrownBy(() -> bucket.reserve(20, Duration.ofHours(12)))
        .isInstanceOf(StackOverflowError.class);

    events.atEachEvent = () -> {};
    advance(Duration.ofSeconds(2));
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  // Bad input

  static Stream<Function<TokenBucket, Object>> callsWithBadValues() {
    return Stream.of(0, -1, Integer.MIN_VALUE, 21, 10_001, Integer.MAX_VALUE)
        .flatMap(n -> Stream.of(b -> b.tryClaim(n), b -> b.reserve(n)));
  }

  @ParameterizedTest
  @MethodSource("callsWithBadValues")
  void number_out_of_range_is_rejected_with_the_range(Function<TokenBucket, Object> call) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> call.apply(bucket))
        .withMessageMatching("tokens: -?[0-9]+ \\(expected: 1 to (20|10000)\\)");
    assertThatNothingHappened();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 10_001})
  void claim_of_up_to_a_number_out_of_range_is_rejected_with_the_range(int n) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bucket.claimUpTo(n))
        .withMessage("tokens: " + n + " (expected: 1 to 10000)");
    assertThatNothingHappened();
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.999S", "PT1.5S", "PT12H1S", "PT1000000H"})
  void lease_out_of_range_is_rejected_with_the_range(Duration lease) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bucket.reserve(1, lease))
        .withMessage("lease: " + lease + " (expected: PT1S to PT12H in whole seconds)");
    assertThatNothingHappened();
  }

  @ParameterizedTest
  @CsvSource({
    "acme, nonsense, action: nonsense (expected: an action that the tier of tenant acme has a"
        + " bucket for)",
    "nobody, send-email, 'tenantId: nobody (expected: an onboarded tenant), action: send-email'",
    "nobody, connect, 'tenantId: nobody (expected: an onboarded tenant), action: connect'"
  })
  void unknown_bucket_is_named_in_the_error(String tenantId, String action, String message) {
    String id = tenantId.equals("acme") ? tenant : tenantId;
    TokenBucket unknown = tollgate.bucket(id, action);

    for (Runnable call :
        List.<Runnable>of(
            unknown::tryClaim,
            unknown::claimInLine,
            () -> unknown.claimUpTo(1),
            () -> unknown.reserve(1))) {
      assertThatThrownBy(call::run)
          .isInstanceOfSatisfying(
              UnknownBucket.class,
              failure -> {
                assertThat(failure.tenantId()).isEqualTo(id);
                assertThat(failure.action()).isEqualTo(action);
              })
          .hasMessage(message.replace("acme", tenant));
    }
    assertThatNothingHappened();
  }

  @ParameterizedTest
  @CsvSource({
    "Acme, send-email, tenantId: Acme",
    "'', send-email, 'tenantId: '",
    "a_b, send-email, tenantId: a_b",
    "acme, Send, action: Send",
    "acme, a_b, action: a_b",
    "acme, abcdefghijklmnopqrstu, action: abcdefghijklmnopqrstu",
    ", send-email, tenantId: null",
    "acme, , action: null"
  })
  void malformed_name_is_rejected(String tenantId, String action, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.bucket(tenantId, action))
        .withMessageStartingWith(message + " (expected: ");
  }

  private void assertThatNothingHappened() {
    assertThat(events.all).isEmpty();
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  // Closing

  @Test
  void closed_client_claims_nothing() {
    tollgate.close();
    tollgate.close();

    String message = "The TollgateClient is closed.";
    assertThatIllegalStateException().isThrownBy(bucket::tryClaim).withMessage(message);
    assertThatIllegalStateException().isThrownBy(bucket::claimInLine).withMessage(message);
    assertThatIllegalStateException().isThrownBy(() -> bucket.claimUpTo(1)).withMessage(message);
    assertThatIllegalStateException().isThrownBy(() -> bucket.reserve(1)).withMessage(message);
    assertThatThrownBy(() -> join(bucket.tryClaimAsync()))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining(message);
    assertThat(events.all).isEmpty();
  }

  @Test
  void reservation_of_a_closed_client_cannot_be_spent() {
    Reservation reservation = reservation(bucket.reserve(1));
    tollgate.close();

    assertThatIllegalStateException().isThrownBy(reservation::spend);
    assertThatCode(reservation::close).doesNotThrowAnyException();
    assertThat(events.all).containsExactly("reserved 1");
  }

  /** Records events, and runs an action of the test at each. */
  private static final class Events implements ClaimListener {
    private final List<String> all = new CopyOnWriteArrayList<>();
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private volatile Runnable atEachEvent = () -> {};

    private void record(Call call, String event) {
      calls.add(call);
      all.add(event);
      atEachEvent.run();
    }

    @Override
    public void claimed(Call call) {
      record(call, "claimed " + call.tokens());
    }

    @Override
    public void reserved(Call call) {
      record(call, "reserved " + call.tokens());
    }

    @Override
    public void denied(Call call, Instant retryAt) {
      record(call, "denied " + call.tokens());
    }

    @Override
    public void undecided(Call call, String cause) {
      record(call, "undecided " + call.tokens());
    }

    @Override
    public void settled(Call call, Settlement settlement) {
      record(call, "settled " + call.tokens() + " " + settlement.getClass().getSimpleName());
    }

    @Override
    public void returned(Call call) {
      record(call, "returned " + call.tokens());
    }
  }
}

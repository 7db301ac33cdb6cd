package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.fill.BucketFill.Conflict;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.bucket.fill.BucketFill.NoBucket;
import dev.tollgate.core.bucket.fill.BucketFill.NotFilled;
import dev.tollgate.core.bucket.fill.BucketFill.Skipped;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BucketFillTest {
  private final AdmissionFixture ports = new AdmissionFixture();
  private final Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final BucketId bucket = AdmissionFixture.connects(acme);

  private Bucket row() {
    return ports.buckets().find(bucket).orElseThrow();
  }

  private BucketFill.FillResult fillAt(long second) {
    ports.clock().set(AdmissionFixture.START.plusSeconds(second));
    return ports.fill().fill(bucket);
  }

  private void spend(int tokens) {
    for (int left = tokens; left > 0; ) {
      List<Lease> held =
          ports.queue().reserve(bucket, Math.min(10, left), Claims.LEASE, Search.LONG);
      assertThat(held).isNotEmpty();
      ports.queue().settle(bucket, held);
      left -= held.size();
    }
  }

  private long available() {
    return ports.queue().available(bucket);
  }

  private static void assertFilled(
      BucketFill.FillResult filled, long minted, long unsent, long trimmed, long level) {
    assertThat(filled)
        .isInstanceOfSatisfying(
            Filled.class,
            topped ->
                assertThat(
                        List.of(topped.minted(), topped.unsent(), topped.trimmed(), topped.level()))
                    .containsExactly(minted, unsent, trimmed, level));
  }

  private void retune(BucketSpec spec) {
    assertThat(ports.buckets().replace(row().retuned(spec, ports.clock().instant())))
        .isEqualTo(WriteResult.DONE);
  }

  private void rememberEmpty(long held) {
    ports
        .buckets()
        .rememberEmpty(
            row(),
            new EmptyHint(ports.clock().instant(), ports.clock().instant().plusSeconds(1), held));
  }

  @Test
  void new_bucket_is_full_at_once() {
    assertThat(available()).isEqualTo(60);
    assertThat(row().level()).isEqualTo(60);
  }

  @Test
  void fill_sends_owed_tokens_at_once_and_future_tokens_at_their_due_second() {
    spend(60);
    assertFilled(fillAt(10), 60, 0, 0, 60);
    assertThat(available()).as("owed").isEqualTo(10);
    for (int second = 1; second <= 50; second++) {
      ports.clock().advance(Duration.ofSeconds(1));
      assertThat(available()).as("second " + (10 + second)).isEqualTo(10 + second);
    }
  }

  @Test
  void fill_mints_ahead_until_the_next_fill() {
    retune(new BucketSpec(Rate.perMinute(60), 200));
    spend(60);
    assertFilled(fillAt(10), 70, 0, 0, 70);
    assertFilled(fillAt(60), 50, 0, 0, 120);
  }

  @Test
  void schedule_that_fires_twice_mints_once() {
    spend(60);
    fillAt(60);
    assertFilled(fillAt(60), 0, 0, 0, 60);
    assertFilled(fillAt(61), 0, 0, 0, 60);
  }

  @Test
  void missed_minute_is_caught_up_at_once_up_to_the_room() {
    retune(new BucketSpec(Rate.perMinute(20), 60));
    spend(60);
    fillAt(0);
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    assertThat(available()).isEqualTo(20);
    spend(20);
    assertFilled(fillAt(240), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void full_bucket_owes_one_minutes_tokens_at_a_late_fill() {
    retune(new BucketSpec(Rate.perMinute(6), 60));
    assertFilled(fillAt(0), 0, 0, 0, 60);
    spend(60);
    assertFilled(fillAt(6_000), 6 + 6, 0, 0, 12);
    assertThat(available()).isEqualTo(6);
  }

  @ParameterizedTest
  @ValueSource(longs = {20, 15})
  void smaller_capacity_removes_surplus_tokens(long capacity) {
    retune(BucketSpec.ofRate(Rate.perMinute(capacity)));
    assertFilled(fillAt(60), 0, 0, 60 - capacity, capacity);
    assertThat(ports.queue().level(bucket)).isEqualTo(capacity);
  }

  @Test
  void fill_that_changes_nothing_writes_nothing() {
    fillAt(60);
    Bucket filled = row();

    assertFilled(fillAt(60), 0, 0, 0, 60);

    assertThat(row()).isEqualTo(filled);
  }

  @Test
  void larger_rate_applies_from_the_retune_on() {
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(30));
    retune(BucketSpec.ofRate(Rate.perMinute(180)));
    assertFilled(fillAt(60), 180, 0, 0, 180);
    assertThat(available()).isEqualTo(30 + 90);
  }

  // Fills without enough time.

  @Test
  void fill_without_time_does_one_step_and_the_next_fill_continues() {
    retune(new BucketSpec(Rate.perMinute(60), 200));
    fillAt(0);
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(120));
    Instant now = ports.clock().instant();

    assertFilled(ports.fill().fill(bucket, now), 60, 0, 0, 120);
    assertFilled(ports.fill().fill(bucket, now), 60, 0, 0, 180);
    assertFilled(ports.fill().fill(bucket), 0, 0, 0, 180);
    ports.clock().advance(Duration.ofMinutes(1));
    assertThat(available()).isEqualTo(180);
  }

  @Test
  void surplus_that_a_fill_has_no_time_for_is_removed_by_the_next_fill() {
    retune(BucketSpec.ofRate(Rate.perMinute(20)));
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));

    assertFilled(ports.fill().fill(bucket, ports.clock().instant()), 0, 0, 0, 60);
    assertFilled(ports.fill().fill(bucket), 0, 0, 40, 20);
  }

  // Failures.

  /** A queue with a scripted answer to {@code put}. */
  private BucketFill fillRejecting(UnaryOperator<List<Token>> unsent) {
    TokenQueue refusing =
        (TokenQueue)
            Proxy.newProxyInstance(
                TokenQueue.class.getClassLoader(),
                new Class<?>[] {TokenQueue.class},
                (proxy, method, arguments) -> {
                  try {
                    if (!method.getName().equals("put")) {
                      return method.invoke(ports.queue(), arguments);
                    }
                    @SuppressWarnings("unchecked")
                    List<Token> tokens = (List<Token>) arguments[1];
                    List<Token> refused = unsent.apply(tokens);
                    ports
                        .queue()
                        .put(bucket, tokens.stream().filter(t -> !refused.contains(t)).toList());
                    return refused;
                  } catch (InvocationTargetException failure) {
                    throw failure.getCause();
                  }
                });
    return new BucketFill(ports.buckets(), refusing, ports.clock());
  }

  @Test
  void tokens_refused_by_the_queue_are_sent_by_the_next_fill() {
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    BucketFill.FillResult refused = fillRejecting(tokens -> tokens).fill(bucket);
    assertFilled(refused, 0, 60, 0, 0);
    assertThat(((Filled) refused).bucket()).isEqualTo(row());
    assertThat(ports.queue().level(bucket)).isZero();

    assertFilled(fillAt(61), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(60);
  }

  /** SQS may know a new queue in some of its servers before it does in others. */
  @Test
  void tokens_for_a_queue_that_is_lost_after_it_was_counted_are_sent_by_the_next_fill() {
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    BucketFill missing =
        fillRejecting(
            tokens -> {
              throw new MissingQueue(bucket);
            });
    assertThatThrownBy(() -> missing.fill(bucket)).isInstanceOf(MissingQueue.class);

    assertFilled(fillAt(60), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void partly_refused_tokens_are_partly_owed_again() {
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(10));
    assertFilled(fillRejecting(tokens -> tokens.subList(20, 45)).fill(bucket), 35, 25, 0, 35);

    assertFilled(fillAt(10), 25, 0, 0, 60);

    ports.clock().advance(Duration.ofSeconds(51));
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void tokens_of_an_unanswered_send_are_not_sent_again() {
    spend(60);
    ports.queue().outage().begin("put");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    ports.queue().outage().end();
    assertFilled(fillAt(60), 60, 0, 0, 60);
    assertThat(available()).as("tokens of the unanswered send").isZero();
  }

  @Test
  void unreadable_level_skips_the_fill_and_loses_no_token() {
    spend(60);
    Bucket before = row();
    ports.queue().outage().begin("countTokens");
    assertThat(fillAt(60)).isInstanceOf(Skipped.class);
    assertThat(row()).isEqualTo(before);
    ports.queue().outage().end();
    assertThat(available()).isZero();
    assertFilled(fillAt(60), 60, 0, 0, 60);
  }

  @Test
  void skipped_fills_bring_what_a_bucket_is_owed_and_never_more_than_it_holds() {
    retune(new BucketSpec(Rate.perMinute(60), 200));
    spend(60);
    assertFilled(fillAt(60), 120, 0, 0, 120);
    spend(60);
    ports.queue().outage().begin("countTokens");
    assertThat(fillAt(120)).isInstanceOf(Skipped.class);
    assertThat(fillAt(180)).isInstanceOf(Skipped.class);
    ports.queue().outage().end();
    spend(60);

    assertFilled(fillAt(240), 180, 0, 0, 180);
    assertThat(available()).as("owed of two minutes").isEqualTo(120);
  }

  @Test
  void bucket_that_has_missed_several_fills_fails() {
    fillAt(60);
    ports.queue().outage().begin("countTokens");
    assertThat(fillAt(120)).isInstanceOf(Skipped.class);
    assertThatThrownBy(() -> fillAt(600)).isInstanceOf(Unavailable.class);
  }

  @Test
  void unwritable_ledger_sends_and_loses_no_token() {
    spend(60);
    ports.buckets().outage().begin("replace");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    assertThat(ports.queue().level(bucket)).isZero();
    ports.buckets().outage().end();
    assertFilled(fillAt(60), 60, 0, 0, 60);
  }

  @Test
  void unwritable_line_fails_no_fill_and_the_next_fill_counts_spare_tokens() {
    spend(60);
    Instant slot = AdmissionFixture.START.plusSeconds(30);
    Line opened = row().at(AdmissionFixture.START).lineOpened(slot).withIssued(200);
    ports.buckets().changeLine(bucket, Optional.empty(), opened);
    fillAt(60);
    ports.buckets().outage().begin("changeLine");
    assertFilled(fillAt(120), 0, 0, 0, 60);
    assertThat(row().line().orElseThrow().spare()).isZero();
    ports.buckets().outage().end();

    fillAt(121);

    assertThat(row().line().orElseThrow().spare()).isPositive();
  }

  @Test
  void many_concurrent_fills_mint_once() {
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    Bucket read = row();
    List<BucketFill.FillResult> answers = Race.of(8, i -> ports.fill().fill(read, Instant.MAX));
    assertThat(answers).filteredOn(Filled.class::isInstance).hasSize(1);
    assertThat(answers).filteredOn(Conflict.class::isInstance).hasSize(7);
    assertThat(ports.queue().level(bucket)).isEqualTo(60);
  }

  @Test
  void conflict_in_a_later_step_keeps_the_tokens_of_the_earlier_one() {
    retune(new BucketSpec(Rate.perMinute(60), 200));
    fillAt(0);
    spend(60);
    ports.clock().set(AdmissionFixture.START.plusSeconds(120));
    Faults faults = new Faults();
    BucketFill other =
        new BucketFill(faults.around(Buckets.class, ports.buckets()), ports.queue(), ports.clock());

    faults.plan(2, call -> WriteResult.CONFLICT);
    assertThat(other.fill(bucket)).isEqualTo(new Conflict());
    faults.plan(3, call -> WriteResult.CONFLICT);
    assertFilled(other.fill(bucket), 60, 0, 0, 120);
    assertFilled(other.fill(bucket), 60, 0, 0, 180);
  }

  @Test
  void result_without_its_bucket_is_what_logs_show() {
    assertThat(new Filled(row(), 1, 2, 3, 4))
        .hasToString("Filled[minted=1, unsent=2, trimmed=3, level=4]");
  }

  @Test
  void removal_of_surplus_tokens_ends_once_the_queue_cannot_spend_one() {
    retune(BucketSpec.ofRate(Rate.perMinute(20)));
    Faults faults = new Faults();
    TokenQueue failing = faults.around(TokenQueue.class, ports.queue());
    Faults.Fault leaseEnds =
        Faults.concurrently(() -> ports.clock().advance(Duration.ofSeconds(31)));
    faults.plan(5, leaseEnds);
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    BucketFill.FillResult filled =
        new BucketFill(ports.buckets(), failing, ports.clock()).fill(bucket);

    assertThat(faults.calls())
        .containsExactly(
            "TokenQueue.countTokens",
            "TokenQueue.reserve",
            "TokenQueue.settle",
            "TokenQueue.reserve",
            "TokenQueue.settle");
    assertFilled(filled, 0, 0, 10, 50);
    assertThat(ports.queue().level(bucket)).isEqualTo(50);
  }

  @Test
  void deleted_bucket_is_ignored() {
    ports.buckets().remove(bucket);
    assertThat(fillAt(60)).isEqualTo(new NoBucket());
  }

  // Outdated levels.

  @Test
  void bucket_found_empty_is_filled_although_the_queue_still_counts_tokens() {
    ports.clock().set(AdmissionFixture.START.plusSeconds(100));
    rememberEmpty(0);
    assertThat(ports.queue().level(bucket)).as("level of the queue").isEqualTo(60);
    assertFilled(fillAt(101), 60, 0, 0, 60);
  }

  @Test
  void idle_bucket_after_a_drain_holds_exactly_its_capacity() {
    fillAt(120);
    spend(60);
    rememberEmpty(0);
    for (int minute = 2; minute < 12; minute++) {
      fillAt(60L * minute);
      assertThat(ports.queue().level(bucket)).as("minute " + minute).isEqualTo(60);
    }
  }

  /** A program that claims tokens may store a hint whenever it wants to. */
  @ParameterizedTest
  @ValueSource(longs = {0, 4, 1_000_000})
  void wrong_hints_before_every_fill_add_at_most_two_minutes_tokens(long ahead) {
    for (int minute = 1; minute < 60; minute++) {
      Instant since = ports.clock().instant().plusSeconds(ahead);
      ports.buckets().rememberEmpty(row(), new EmptyHint(since, since, 0));
      fillAt(60L * minute);
      assertThat(ports.queue().level(bucket))
          .as("minute %d", minute)
          .isLessThanOrEqualTo(60 + 2 * 60);
      ports.clock().set(AdmissionFixture.START.plusSeconds(60L * minute + 59));
    }
  }

  /** The same, while the queue counts the tokens of a minute ago. */
  @Test
  void wrong_hints_and_outdated_counts_add_at_most_three_minutes_tokens() {
    Faults faults = new Faults();
    TokenQueue queue = faults.around(TokenQueue.class, ports.queue());
    TokenQueue.Level minuteAgo = ports.queue().countTokens(bucket);
    for (int minute = 1; minute < 60; minute++) {
      ports.clock().set(AdmissionFixture.START.plusSeconds(60L * minute));
      ports.buckets().rememberEmpty(row(), new EmptyHint(ports.clock().instant(), Instant.MAX, 0));
      TokenQueue.Level counted = minuteAgo;
      minuteAgo = ports.queue().countTokens(bucket);
      faults.plan(1, call -> counted);
      new BucketFill(ports.buckets(), queue, ports.clock()).fill(bucket);
      assertThat(ports.queue().level(bucket))
          .as("minute %d", minute)
          .isLessThanOrEqualTo(60 + 3 * 60);
    }
  }

  @Test
  void hibernating_bucket_found_empty_is_filled() {
    ports.clock().set(AdmissionFixture.START.plusSeconds(100));
    ports.buckets().replace(row().hibernating(ports.clock().instant()));
    ports.clock().set(AdmissionFixture.START.plusSeconds(1_000));
    rememberEmpty(0);
    assertThat(ports.queue().level(bucket)).as("level of the queue").isEqualTo(60);
    assertFilled(ports.fill().fillOnRequest(row(), Instant.MAX), 60, 0, 0, 60);
    assertThat(row().emptyHint()).as("empty hint without owed tokens").isPresent();
  }

  /**
   * Otherwise a caller that holds all tokens once a minute and gives them back could accumulate
   * tokens without limit.
   */
  @Test
  void bucket_found_empty_because_all_tokens_are_held_is_not_filled() {
    ports.clock().set(AdmissionFixture.START.plusSeconds(100));
    List<Lease> held = ports.queue().reserve(bucket, 10, Duration.ofSeconds(90), Search.LONG);
    spend(50);
    rememberEmpty(10);
    assertFilled(fillAt(160), 50, 0, 0, 60);
    assertThat(ports.queue().giveBack(bucket, held)).isEmpty();
    assertThat(ports.queue().level(bucket)).isEqualTo(60);
  }

  // Requested fills.

  private BucketFill.FillResult fillOnRequest() {
    return ports.fill().fillOnRequest(row(), Instant.MAX);
  }

  @Test
  void fill_request_while_tokens_are_pending_does_nothing() {
    spend(60);
    ports.clock().advance(Duration.ofSeconds(1));
    assertFilled(fillOnRequest(), 60, 0, 0, 60);
    Bucket filled = row();
    spend(1);
    assertThat(fillOnRequest()).isEqualTo(new NotFilled(FillState.State.PRODUCED));
    assertThat(row()).isEqualTo(filled);
  }

  @Test
  void fill_request_for_a_full_bucket_is_harmless() {
    ports.clock().advance(Duration.ofSeconds(30));
    assertFilled(fillOnRequest(), 0, 0, 0, 60);
    assertThat(ports.queue().level(bucket)).isEqualTo(60);
  }

  @Test
  void fill_request_for_a_hibernating_bucket_wakes_it_and_mints_ahead() {
    ports.clock().advance(Duration.ofSeconds(100));
    ports.buckets().replace(row().hibernating(ports.clock().instant()));
    ports.clock().advance(Duration.ofDays(3));
    spend(60);

    assertFilled(fillOnRequest(), 60, 0, 0, 60);

    assertThat(row().isHibernating()).isFalse();
    assertThat(available()).as("owed for the hibernation").isZero();
  }

  @Test
  void fill_request_for_a_suspended_tenant_does_nothing() {
    ports.buckets().replace(row().suspended(row().spec(), ports.clock().instant()));
    spend(60);
    ports.clock().advance(Duration.ofSeconds(30));
    assertThat(fillOnRequest()).isEqualTo(new NotFilled(FillState.State.SUSPENDED));
    assertThat(ports.queue().level(bucket)).isZero();
  }

  @Test
  void bucket_of_a_resumed_tenant_is_owed_the_tokens_of_its_suspension() {
    spend(60);
    ports.buckets().replace(row().suspended(row().spec(), ports.clock().instant()));
    ports.clock().advance(Duration.ofSeconds(30));
    assertThat(ports.fill().fill(bucket)).isEqualTo(new NotFilled(FillState.State.SUSPENDED));
    retune(row().spec());
    assertFilled(ports.fill().fill(bucket), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(30);
  }
}

package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.BucketGate;
import dev.tollgate.core.bucket.fill.BucketFill.Conflict;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.bucket.fill.BucketFill.NoBucket;
import dev.tollgate.core.bucket.fill.BucketFill.NotFilled;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

final class BucketFillTest {
  private final AdmissionFixture town = new AdmissionFixture();
  private final Tenant acme = town.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final BucketId bucket = AdmissionFixture.connects(acme);

  private Bucket row() {
    return town.buckets().find(bucket).orElseThrow();
  }

  private BucketFill.FillResult fillAt(long second) {
    town.clock().set(AdmissionFixture.START.plusSeconds(second));
    return town.fill().fill(bucket);
  }

  private void spend(int tokens) {
    for (int left = tokens; left > 0; ) {
      List<Lease> held =
          town.queue().reserve(bucket, Math.min(10, left), BucketGate.LEASE, Search.LONG);
      assertThat(held).isNotEmpty();
      town.queue().settle(bucket, held);
      left -= held.size();
    }
  }

  private long available() {
    return town.queue().available(bucket);
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
    assertThat(town.buckets().replace(row().retuned(spec, town.clock().instant())))
        .isEqualTo(WriteResult.DONE);
  }

  private void rememberEmpty(long held) {
    town.buckets()
        .rememberEmpty(
            row(),
            new EmptyHint(town.clock().instant(), town.clock().instant().plusSeconds(1), held));
  }

  @Test
  void a_new_bucket_is_full_at_once() {
    assertThat(available()).isEqualTo(60);
    assertThat(row().level()).isEqualTo(60);
  }

  @Test
  void a_fill_sends_what_is_owed_and_each_token_to_come_at_the_second_at_which_it_is_due() {
    spend(60);
    assertFilled(fillAt(10), 60, 0, 0, 60);
    assertThat(available()).as("owed").isEqualTo(10);
    for (int second = 1; second <= 50; second++) {
      town.clock().advance(Duration.ofSeconds(1));
      assertThat(available()).as("second " + (10 + second)).isEqualTo(10 + second);
    }
  }

  @Test
  void fills_mint_ahead_until_the_next_one_is_due() {
    retune(new BucketSpec(Rate.perMinute(60), 200));
    spend(60);
    assertFilled(fillAt(10), 70, 0, 0, 70);
    assertFilled(fillAt(60), 50, 0, 0, 120);
  }

  @Test
  void a_schedule_that_fires_twice_mints_once() {
    spend(60);
    fillAt(60);
    assertFilled(fillAt(60), 0, 0, 0, 60);
    assertFilled(fillAt(61), 0, 0, 0, 60);
  }

  @Test
  void a_missed_minute_is_caught_up_at_once_as_far_as_there_was_room() {
    retune(new BucketSpec(Rate.perMinute(20), 60));
    spend(60);
    fillAt(0);
    town.clock().set(AdmissionFixture.START.plusSeconds(60));
    assertThat(available()).isEqualTo(20);
    spend(20);
    assertFilled(fillAt(240), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void a_bucket_that_was_full_owes_one_minutes_tokens_however_late_its_fill() {
    retune(new BucketSpec(Rate.perMinute(6), 60));
    assertFilled(fillAt(0), 0, 0, 0, 60);
    spend(60);
    assertFilled(fillAt(6_000), 6 + 6, 0, 0, 12);
    assertThat(available()).isEqualTo(6);
  }

  @Test
  void a_smaller_capacity_takes_out_what_is_too_much() {
    retune(BucketSpec.ofRate(Rate.perMinute(20)));
    assertFilled(fillAt(60), 0, 0, 40, 20);
    assertThat(town.queue().level(bucket)).isEqualTo(20);
  }

  @Test
  void a_larger_rate_holds_from_the_retune_on() {
    spend(60);
    town.clock().set(AdmissionFixture.START.plusSeconds(30));
    retune(BucketSpec.ofRate(Rate.perMinute(180)));
    assertFilled(fillAt(60), 180, 0, 0, 180);
    assertThat(available()).isEqualTo(30 + 90);
  }

  // What fails.

  /** A queue that answers so when tokens are put. */
  private BucketFill filling(UnaryOperator<List<Token>> unsent) {
    TokenQueue refusing =
        (TokenQueue)
            Proxy.newProxyInstance(
                TokenQueue.class.getClassLoader(),
                new Class<?>[] {TokenQueue.class},
                (proxy, method, arguments) -> {
                  try {
                    if (!method.getName().equals("put")) {
                      return method.invoke(town.queue(), arguments);
                    }
                    @SuppressWarnings("unchecked")
                    List<Token> tokens = (List<Token>) arguments[1];
                    List<Token> refused = unsent.apply(tokens);
                    town.queue()
                        .put(bucket, tokens.stream().filter(t -> !refused.contains(t)).toList());
                    return refused;
                  } catch (InvocationTargetException failure) {
                    throw failure.getCause();
                  }
                });
    return new BucketFill(town.buckets(), refusing, town.clock());
  }

  @Test
  void tokens_that_the_queue_refuses_are_owed_again_and_come_with_the_next_fill() {
    spend(60);
    town.clock().set(AdmissionFixture.START.plusSeconds(60));
    assertFilled(filling(tokens -> tokens).fill(bucket), 0, 60, 0, 0);
    assertThat(town.queue().level(bucket)).isZero();

    assertFilled(fillAt(61), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void tokens_that_the_queue_refuses_in_part_are_owed_again_in_part() {
    spend(60);
    town.clock().set(AdmissionFixture.START.plusSeconds(10));
    assertFilled(filling(tokens -> tokens.subList(20, 45)).fill(bucket), 35, 25, 0, 35);

    assertFilled(fillAt(10), 25, 0, 0, 60);

    town.clock().advance(Duration.ofSeconds(51));
    assertThat(available()).isEqualTo(60);
  }

  @Test
  void tokens_of_which_nobody_knows_whether_they_were_sent_are_lost_and_never_sent_twice() {
    spend(60);
    town.queue().outage().begin("put");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    town.queue().outage().end();
    assertFilled(fillAt(60), 60, 0, 0, 60);
    assertThat(available()).as("what was due until then").isZero();
  }

  @Test
  void when_the_level_cannot_be_read_nothing_is_lost() {
    spend(60);
    town.queue().outage().begin("look");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    town.queue().outage().end();
    assertFilled(fillAt(60), 60, 0, 0, 60);
  }

  @Test
  void when_the_ledger_cannot_be_written_nothing_is_sent_and_nothing_is_lost() {
    spend(60);
    town.buckets().outage().begin("replace");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    assertThat(town.queue().level(bucket)).isZero();
    town.buckets().outage().end();
    assertFilled(fillAt(60), 60, 0, 0, 60);
  }

  @Test
  void of_many_fills_at_once_one_mints() {
    spend(60);
    town.clock().set(AdmissionFixture.START.plusSeconds(60));
    Bucket read = row();
    List<BucketFill.FillResult> answers = Race.of(8, i -> town.fill().fill(read));
    assertThat(answers).filteredOn(Filled.class::isInstance).hasSize(1);
    assertThat(answers).filteredOn(Conflict.class::isInstance).hasSize(7);
    assertThat(town.queue().level(bucket)).isEqualTo(60);
  }

  @Test
  void a_bucket_that_is_gone_is_left_alone() {
    town.buckets().remove(bucket);
    assertThat(fillAt(60)).isEqualTo(new NoBucket());
  }

  // A level that the queue tells late.

  @Test
  void a_bucket_that_was_found_empty_is_filled_though_the_queue_still_tells_of_tokens() {
    town.clock().set(AdmissionFixture.START.plusSeconds(100));
    rememberEmpty(0);
    assertThat(town.queue().level(bucket)).as("what the queue tells").isEqualTo(60);
    assertFilled(fillAt(101), 60, 0, 0, 60);
  }

  @Test
  void a_bucket_that_was_drained_once_and_then_left_alone_holds_its_capacity_and_no_more() {
    fillAt(120);
    spend(60);
    rememberEmpty(0);
    for (int minute = 2; minute < 12; minute++) {
      fillAt(60L * minute);
      assertThat(town.queue().level(bucket)).as("minute " + minute).isEqualTo(60);
    }
  }

  @Test
  void a_bucket_that_slept_and_was_found_empty_is_filled_too() {
    town.clock().set(AdmissionFixture.START.plusSeconds(100));
    town.buckets().replace(row().hibernating(town.clock().instant()));
    town.clock().set(AdmissionFixture.START.plusSeconds(1_000));
    rememberEmpty(0);
    assertThat(town.queue().level(bucket)).as("what the queue tells").isEqualTo(60);
    assertFilled(town.fill().fillOnRequest(row()), 60, 0, 0, 60);
    assertThat(row().emptyHint()).as("nothing was owed").isPresent();
  }

  /** Else whoever holds all tokens once a minute and gives them back could hoard without end. */
  @Test
  void a_bucket_that_was_found_empty_because_all_is_held_is_not_filled_for_that() {
    town.clock().set(AdmissionFixture.START.plusSeconds(100));
    List<Lease> held = town.queue().reserve(bucket, 10, Duration.ofSeconds(90), Search.LONG);
    spend(50);
    rememberEmpty(10);
    assertFilled(fillAt(160), 50, 0, 0, 60);
    assertThat(town.queue().giveBack(bucket, held)).isEmpty();
    assertThat(town.queue().level(bucket)).isEqualTo(60);
  }

  // On request.

  private BucketFill.FillResult fillOnRequest() {
    return town.fill().fillOnRequest(row());
  }

  @Test
  void a_request_for_a_bucket_that_has_tokens_on_the_way_does_nothing() {
    spend(60);
    town.clock().advance(Duration.ofSeconds(1));
    assertFilled(fillOnRequest(), 60, 0, 0, 60);
    Bucket filled = row();
    spend(1);
    assertThat(fillOnRequest()).isEqualTo(new NotFilled(FillState.State.PRODUCED));
    assertThat(row()).isEqualTo(filled);
  }

  @Test
  void a_request_for_a_bucket_that_is_full_does_no_harm() {
    town.clock().advance(Duration.ofSeconds(30));
    assertFilled(fillOnRequest(), 0, 0, 0, 60);
    assertThat(town.queue().level(bucket)).isEqualTo(60);
  }

  @Test
  void a_request_for_a_bucket_that_sleeps_wakes_it_and_mints_ahead_from_then_on() {
    town.clock().advance(Duration.ofSeconds(100));
    town.buckets().replace(row().hibernating(town.clock().instant()));
    town.clock().advance(Duration.ofDays(3));
    spend(60);

    assertFilled(fillOnRequest(), 60, 0, 0, 60);

    assertThat(row().isHibernating()).isFalse();
    assertThat(available()).as("owed for its sleep").isZero();
  }

  @Test
  void a_request_for_a_bucket_of_a_suspended_tenant_does_nothing() {
    town.buckets().replace(row().suspended(row().spec(), town.clock().instant()));
    spend(60);
    town.clock().advance(Duration.ofSeconds(30));
    assertThat(fillOnRequest()).isEqualTo(new NotFilled(FillState.State.SUSPENDED));
    assertThat(town.queue().level(bucket)).isZero();
  }

  @Test
  void a_bucket_whose_tenant_is_active_again_is_owed_what_came_meanwhile() {
    spend(60);
    town.buckets().replace(row().suspended(row().spec(), town.clock().instant()));
    town.clock().advance(Duration.ofSeconds(30));
    assertThat(town.fill().fill(bucket)).isEqualTo(new NotFilled(FillState.State.SUSPENDED));
    retune(row().spec());
    assertFilled(town.fill().fill(bucket), 60, 0, 0, 60);
    assertThat(available()).isEqualTo(30);
  }
}

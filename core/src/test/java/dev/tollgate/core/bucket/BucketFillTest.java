package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import dev.tollgate.core.bucket.BucketFill.NoBucket;
import dev.tollgate.core.bucket.BucketFill.Topped;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Town;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class BucketFillTest {
  private final Town town = new Town();
  private final Tenant acme = town.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final BucketId bucket = Town.connects(acme);

  private BucketFill.Filled fillAt(long second) {
    Instant at = Town.START.plusSeconds(second);
    town.clock().set(at);
    return town.fill().fill(bucket, at);
  }

  private void spend(int tokens) {
    for (int left = tokens; left > 0; ) {
      List<Lease> held = town.queue().reserve(bucket, Math.min(10, left), Duration.ofSeconds(30));
      assertThat(held).isNotEmpty();
      town.queue().settle(bucket, held);
      left -= held.size();
    }
  }

  private static void assertTopped(
      BucketFill.Filled filled, long minted, long lost, long trimmed, long level) {
    assertThat(filled)
        .isInstanceOfSatisfying(
            Topped.class,
            topped ->
                assertThat(
                        List.of(topped.minted(), topped.lost(), topped.trimmed(), topped.level()))
                    .containsExactly(minted, lost, trimmed, level));
  }

  private void retune(long perMinute) {
    Bucket now = town.buckets().find(bucket).orElseThrow();
    BucketSpec spec = BucketSpec.ofRate(Rate.perMinute(perMinute));
    assertThat(town.buckets().replace(now.retuned(spec, town.clock().instant())))
        .isEqualTo(Written.DONE);
  }

  @Test
  void a_new_bucket_is_full_at_once() {
    assertThat(town.queue().available(bucket)).isEqualTo(60);
  }

  @Test
  void an_ordinary_fill_is_spread_over_its_minute() {
    spend(60);
    assertTopped(fillAt(60), 60, 0, 0, 60);
    assertThat(town.queue().available(bucket)).isEqualTo(1);
    town.clock().advance(Duration.ofSeconds(30));
    assertThat(town.queue().available(bucket)).isEqualTo(31);
    town.clock().advance(Duration.ofSeconds(29));
    assertThat(town.queue().available(bucket)).isEqualTo(60);
  }

  @Test
  void a_schedule_that_fires_twice_mints_once() {
    spend(60);
    fillAt(60);
    assertTopped(fillAt(60), 0, 0, 0, 60);
  }

  @Test
  void a_missed_minute_is_caught_up_at_once_and_the_last_is_spread() {
    retune(20);
    spend(60);
    assertTopped(fillAt(180), 20, 0, 0, 20);
    assertThat(town.queue().available(bucket)).isEqualTo(20 - 19);
  }

  @Test
  void a_smaller_capacity_takes_out_what_is_too_much() {
    retune(20);
    assertTopped(fillAt(60), 0, 0, 40, 20);
    assertThat(town.queue().level(bucket)).isEqualTo(20);
  }

  @Test
  void a_larger_rate_holds_from_the_retune_on() {
    spend(60);
    town.clock().set(Town.START.plusSeconds(30));
    retune(180);
    assertTopped(fillAt(60), 30 + 90, 0, 0, 120);
  }

  @Test
  void tokens_that_cannot_be_sent_are_lost_and_not_sent_later() {
    spend(60);
    town.queue().outage().begin("put");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    town.queue().outage().end();
    assertTopped(fillAt(60), 0, 0, 0, 0);
    assertTopped(fillAt(120), 60, 0, 0, 60);
  }

  @Test
  void when_the_level_cannot_be_read_nothing_is_lost() {
    spend(60);
    town.queue().outage().begin("look");
    assertThatThrownBy(() -> fillAt(60)).isInstanceOf(Unavailable.class);
    town.queue().outage().end();
    assertTopped(fillAt(60), 60, 0, 0, 60);
  }

  @Test
  void a_bucket_that_was_found_empty_is_filled_though_the_queue_still_tells_of_tokens() {
    Bucket drained = town.buckets().find(bucket).orElseThrow();
    town.buckets().rememberEmpty(drained, Town.START.plusSeconds(61));
    assertThat(town.queue().level(bucket)).as("what the queue tells").isEqualTo(60);
    assertTopped(fillAt(60), 60, 0, 0, 60);
  }

  /** Else whoever holds all tokens once a minute and gives them back could hoard without end. */
  @Test
  void a_bucket_that_was_found_empty_because_all_is_held_is_not_filled_for_that() {
    List<Lease> held = town.queue().reserve(bucket, 10, Duration.ofSeconds(90));
    spend(50);
    Bucket drained = town.buckets().find(bucket).orElseThrow();
    town.buckets().rememberEmpty(drained, Town.START.plusSeconds(61));
    assertTopped(fillAt(60), 50, 0, 0, 60);
    assertThat(town.queue().giveBack(bucket, held)).isEmpty();
    assertThat(town.queue().level(bucket)).isEqualTo(60);
  }

  @Test
  void a_tick_from_the_future_counts_as_now() {
    spend(60);
    town.clock().set(Town.START.plusSeconds(60));
    assertTopped(town.fill().fill(bucket, Town.START.plus(Duration.ofDays(365))), 60, 0, 0, 60);
    assertTopped(fillAt(120), 0, 0, 0, 60);
  }

  @Test
  void a_bucket_that_is_gone_is_left_alone() {
    town.buckets().remove(bucket);
    assertThat(fillAt(60)).isEqualTo(new NoBucket());
  }

  private static void spendAll(Town town, BucketId id) {
    List<Lease> held = town.queue().reserve(id, 10, Duration.ofSeconds(30));
    while (!held.isEmpty()) {
      town.queue().settle(id, held);
      held = town.queue().reserve(id, 10, Duration.ofSeconds(30));
    }
  }

  /**
   * Retunes between two rates at random instants, under load: never more than the larger rate's
   * law.
   */
  @Test
  void a_thousand_retunes_mint_no_more_than_the_larger_rate_would() {
    for (long seed = 1; seed <= 5; seed++) {
      Town flipping = new Town();
      Tenant tenant = flipping.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
      BucketId id = Town.connects(tenant);
      Random random = new Random(seed);
      long minted = 60;
      Instant tick = Town.START.plusSeconds(60);
      for (int flip = 0; flip < 1_000; flip++) {
        Instant next = flipping.clock().instant().plusMillis(random.nextInt(20_000));
        while (!tick.isAfter(next)) {
          flipping.clock().set(tick);
          minted += ((Topped) flipping.fill().fill(id, tick)).minted();
          tick = tick.plusSeconds(60);
          flipping.clock().advance(Duration.ofMillis(random.nextInt(10)));
          spendAll(flipping, id);
        }
        if (next.isAfter(flipping.clock().instant())) {
          flipping.clock().set(next);
        }
        Bucket now = flipping.buckets().find(id).orElseThrow();
        BucketSpec spec = BucketSpec.ofRate(Rate.perMinute(flip % 2 == 0 ? 180 : 60));
        flipping.buckets().replace(now.retuned(spec, flipping.clock().instant()));
        double minutes =
            Duration.between(Town.START, flipping.clock().instant()).toMillis() / 60_000.0;
        assertThat((double) minted)
            .as("seed %d, flip %d", seed, flip)
            .isLessThanOrEqualTo(180 + 180 * minutes);
      }
      assertThat(minted).isGreaterThan(1_000);
    }
  }
}

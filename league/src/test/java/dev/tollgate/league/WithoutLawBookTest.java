package dev.tollgate.league;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ClockedRateLimiter;
import com.google.common.util.concurrent.RateLimiter;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.TokensInheritanceStrategy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Shows what the league table says of other limiters, by them alone. */
class WithoutLawBookTest {
  private final AtomicLong nanos = new AtomicLong();

  private final TimeMeter meter =
      new TimeMeter() {
        @Override
        public long currentTimeNanos() {
          return nanos.get();
        }

        @Override
        public boolean isWallClockBased() {
          return false;
        }
      };

  /** The time of a seventh of a second is rounded down to nanoseconds. */
  @Test
  void bucket4j_refuses_a_caller_that_waited_as_long_as_it_stated() {
    Bucket bucket =
        Bucket.builder()
            .addLimit(limit -> limit.capacity(1).refillGreedy(7, Duration.ofSeconds(1)))
            .withCustomTimePrecision(meter)
            .build();
    assertThat(bucket.tryConsume(1)).isTrue();

    ConsumptionProbe refused = bucket.tryConsumeAndReturnRemaining(1);
    nanos.addAndGet(refused.getNanosToWaitForRefill());
    ConsumptionProbe again = bucket.tryConsumeAndReturnRemaining(1);

    assertThat(refused.getNanosToWaitForRefill()).isEqualTo(142_857_142);
    assertThat(again.isConsumed()).isFalse();
    assertThat(again.getNanosToWaitForRefill()).isZero();
    nanos.addAndGet(1);
    assertThat(bucket.tryConsume(1)).isTrue();
  }

  /**
   * The fraction is multiplied by the whole part of new period / old period ({@code
   * replaceBandwidthAsIs}): by 60 for a longer period, but by 0 for a shorter one.
   */
  @Test
  void bucket4j_drops_the_accrued_fraction_if_the_new_period_is_shorter() {
    Duration second = Duration.ofSeconds(1);
    Duration minute = Duration.ofMinutes(1);

    assertThat(waitAfterNineTenthsOfAToken(second, minute)).isEqualTo(Duration.ofSeconds(6));
    assertThat(waitAfterNineTenthsOfAToken(minute, second)).isEqualTo(Duration.ofSeconds(1));
  }

  private Duration waitAfterNineTenthsOfAToken(Duration period, Duration next) {
    Bucket bucket =
        Bucket.builder()
            .addLimit(limit -> limit.capacity(2).refillGreedy(1, period))
            .withCustomTimePrecision(meter)
            .build();
    bucket.tryConsume(2);
    nanos.addAndGet(period.toNanos() / 10 * 9);
    bucket.replaceConfiguration(
        BucketConfiguration.builder()
            .addLimit(limit -> limit.capacity(2).refillGreedy(1, next))
            .build(),
        TokensInheritanceStrategy.AS_IS);
    return Duration.ofNanos(bucket.tryConsumeAndReturnRemaining(1).getNanosToWaitForRefill());
  }

  /** 100 tokens at one in ten seconds take 1,000 seconds; the item expires after 100. */
  @Test
  void item_that_expires_before_it_is_full_starts_anew_full() {
    Map<String, double[]> table = new HashMap<>();
    assertThat(IntStream.range(0, 200).filter(i -> admits(table, 0)).count()).isEqualTo(100);
    assertThat(IntStream.range(0, 200).filter(i -> admits(table, 99)).count()).isEqualTo(9);

    assertThat(IntStream.range(0, 200).filter(i -> admits(table, 200)).count()).isEqualTo(100);
  }

  /** A request to token-bucket.ts: 100 tokens, 0.1 a second. The attributes are numbered. */
  private static boolean admits(Map<String, double[]> table, double now) {
    table.values().removeIf(item -> item[2] < now);
    double[] item = table.getOrDefault("key", new double[] {100, now, now});
    double filled = Math.min(100, item[0] + (now - item[1]) * 0.1);
    if (filled >= 1) {
      table.put("key", new double[] {filled - 1, now, now + 100});
    }
    return filled >= 1;
  }

  /** Its Javadoc says so: a request pays by the wait of the next one. */
  @Test
  void guava_admits_one_more_than_it_stores() {
    AtomicLong micros = new AtomicLong();
    RateLimiter limiter = ClockedRateLimiter.create(5, micros::get);
    micros.set(1_000_000);

    int admitted = 0;
    while (limiter.tryAcquire()) {
      admitted++;
    }

    assertThat(admitted).isEqualTo(6);
  }

  /** Its README says so: points are reset a duration after the first request. */
  @Tag("nightly")
  @Test
  void rate_limiter_flexible_admits_twice_the_points_and_counts_refused_ones() throws Exception {
    String program =
        """
        import { RateLimiterMemory } from "rate-limiter-flexible";
        let now = 0;
        Date.now = () => now;
        const limiter = new RateLimiterMemory({ points: 6, duration: 60 });
        const admits = (key, points) => limiter.consume(key, points).then(() => 1, () => 0);
        let twice = await admits("a", 1);
        for (now = 59_999; now <= 60_000; now++)
          for (let i = 0; i < 9; i++) twice += await admits("a", 1);
        const greedy = [await admits("b", 5), await admits("b", 2), await admits("b", 1)];
        console.log(twice, ...greedy);
        """;
    Process node =
        new ProcessBuilder("node", "--input-type=module", "-e", program)
            .directory(Path.of("src/main/node").toFile())
            .redirectErrorStream(true)
            .start();

    assertThat(new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
        .isEqualTo("12 1 0 0");
  }
}

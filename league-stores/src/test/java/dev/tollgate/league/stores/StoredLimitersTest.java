package dev.tollgate.league.stores;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.league.stores.StoredLimiter.Decision;
import dev.tollgate.league.stores.StoredLimiter.StoredBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Shows what the league table says of limiters with stores, by them alone. */
@Tag("nightly")
class StoredLimitersTest {
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  static Stream<Function<InstantSource, StoredLimiter>> bucket4j() {
    return Stream.of(Bucket4j::onRedis, Bucket4j::onDynamoDb);
  }

  /** The time of a seventh of a second is rounded down to nanoseconds. */
  @ParameterizedTest
  @MethodSource("bucket4j")
  void bucket4j_refuses_a_caller_that_waited_as_long_as_it_stated(
      Function<InstantSource, StoredLimiter> opened) {
    try (StoredLimiter limiter = opened.apply(() -> now)) {
      StoredBucket bucket = limiter.open("key", 7, Duration.ofSeconds(1), 1);
      assertThat(bucket.claim(1).admitted()).isTrue();

      Decision refused = bucket.claim(1);
      now = now.plus(refused.retryAfter());
      Decision again = bucket.claim(1);

      assertThat(refused.retryAfter()).hasNanos(142_857_142);
      assertThat(again).isEqualTo(new Decision(false, Duration.ZERO));
      now = now.plusNanos(1);
      assertThat(bucket.claim(1).admitted()).isTrue();
    }
  }

  /** The script rounds the tokens left: with half a token missing, it admits. */
  @Test
  void gcra_admits_half_a_token_early() {
    try (StoredLimiter limiter = new GcraScript(() -> now)) {
      StoredBucket bucket = limiter.open("key", 1, Duration.ofSeconds(10), 1);
      assertThat(bucket.claim(1).admitted()).isTrue();
      now = now.plusSeconds(4);
      assertThat(bucket.claim(1)).isEqualTo(new Decision(false, Duration.ofSeconds(6)));

      now = now.plusSeconds(1);
      assertThat(bucket.claim(1).admitted()).isTrue();
      now = now.plusSeconds(10);
      assertThat(bucket.claim(1).admitted()).isTrue();
      assertThat(bucket.claim(1)).isEqualTo(new Decision(false, Duration.ofSeconds(15)));
    }
  }
}

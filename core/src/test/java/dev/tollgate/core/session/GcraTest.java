package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GcraTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 5, 7, 30, 97, 60_000, 600_000})
  void burst_of_n_uses_conforms_and_the_next_one_does_not(long n) {
    Gcra rate = Gcra.perMinute(n);
    Optional<Instant> arrival = Optional.empty();
    for (long use = 0; use < n; use++) {
      assertThat(rate.conforms(arrival, START)).isTrue();
      arrival = Optional.of(rate.after(arrival, START));
    }
    assertThat(rate.conforms(arrival, START)).isFalse();
    assertThat(rate.remaining(arrival, START)).isZero();
  }

  @Test
  void use_conforms_at_the_retry_time_and_not_a_nanosecond_earlier() {
    Gcra rate = Gcra.perMinute(7);
    Optional<Instant> arrival = Optional.of(START.plusSeconds(60));
    Instant retryAt = rate.conformsAt(arrival, START);
    assertThat(rate.conforms(arrival, retryAt)).isTrue();
    assertThat(rate.conforms(arrival, retryAt.minusNanos(1))).isFalse();
  }

  @Test
  void remaining_counts_the_uses_that_conform() {
    Gcra rate = Gcra.perMinute(10);
    Optional<Instant> arrival = Optional.empty();
    for (long left = 10; left > 0; left--) {
      assertThat(rate.remaining(arrival, START)).isEqualTo(left);
      arrival = Optional.of(rate.after(arrival, START));
    }
  }

  @Test
  void every_window_has_at_most_n_uses_plus_n_a_minute() {
    for (long seed = 1; seed <= 300; seed++) {
      Random random = new Random(seed);
      long n = random.nextLong(1, 41);
      Gcra rate = Gcra.perMinute(n);
      Optional<Instant> arrival = Optional.empty();
      Instant now = START;
      List<Instant> uses = new ArrayList<>();
      for (int attempt = 0; attempt < 200; attempt++) {
        now = now.plusMillis(random.nextInt(random.nextBoolean() ? 50 : 9_000));
        if (rate.conforms(arrival, now)) {
          arrival = Optional.of(rate.after(arrival, now));
          uses.add(now);
        }
      }
      for (int from = 0; from < uses.size(); from++) {
        for (int to = from; to < uses.size(); to++) {
          double minutes = Duration.between(uses.get(from), uses.get(to)).toMillis() / 60_000.0;
          assertThat((double) (to - from + 1))
              .as("seed %d", seed)
              .isLessThanOrEqualTo(n + n * minutes);
        }
      }
    }
  }
}

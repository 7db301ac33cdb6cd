package dev.tollgate.core.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MisbehavingSocketsTest {
  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-01T12:00:00Z"));
  private final MisbehavingSockets sockets = new MisbehavingSockets(clock);

  /** So many sockets take this time for a frame. */
  private void took(String sockets, int count, long millis) {
    for (int i = 0; i < count; i++) {
      this.sockets.took(sockets + i, TimeUnit.MILLISECONDS.toNanos(millis));
    }
  }

  private Duration usual(String socket) {
    return Duration.ofNanos(sockets.usualNanos(socket));
  }

  @ParameterizedTest
  @CsvSource({"0, 100", "49, 100", "51, 102", "249, 498", "251, 500", "5000, 500"})
  void usual_time_is_twice_that_of_the_other_sockets_within_bounds(long others, long usual) {
    took("other", 1, others);

    assertThat(usual("socket")).hasMillis(usual);
  }

  @Test
  void own_posts_do_not_make_a_socket_usual() {
    sockets.took("socket", TimeUnit.MILLISECONDS.toNanos(400));

    assertThat(usual("socket")).hasMillis(100);
  }

  @Test
  void slow_sockets_move_the_usual_time_only_if_they_are_half_of_all() {
    took("quick", 5, 1);
    took("slow", 4, 400);
    assertThat(usual("socket")).hasMillis(100);

    took("slow", 5, 400);
    assertThat(usual("socket")).hasMillis(500);
  }

  @Test
  void each_socket_counts_once_with_its_last_post() {
    took("slow", 3, 400);
    for (int i = 0; i < 100; i++) {
      took("quick", 2, 1);
      sockets.took("socket", TimeUnit.MILLISECONDS.toNanos(1));
    }
    assertThat(usual("socket")).hasMillis(500);

    took("slow", 3, 1);
    assertThat(usual("socket")).hasMillis(100);
  }

  @Test
  void only_the_last_32_sockets_are_compared() {
    took("slow", 32, 400);
    took("quick", 15, 1);
    assertThat(usual("socket")).hasMillis(500);

    took("quick", 17, 1);
    assertThat(usual("socket")).hasMillis(100);
  }

  @Test
  void posts_of_the_last_second_count_alone() {
    took("quick", 10, 1);
    clock.advance(Duration.ofMillis(1_001));
    took("slow", 1, 400);
    assertThat(usual("socket")).hasMillis(500);

    took("quick", 2, 1);
    assertThat(usual("socket")).hasMillis(100);
  }

  @Test
  void without_recent_posts_older_ones_count() {
    took("slow", 3, 400);
    clock.advance(Duration.ofMinutes(50));

    assertThat(usual("socket")).hasMillis(500);
  }
}

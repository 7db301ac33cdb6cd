package dev.tollgate.core.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MisbehavingSocketsTest {
  private final MisbehavingSockets sockets = new MisbehavingSockets(InstantSource.system());

  private void took(String socket, int times, long millis) {
    for (int i = 0; i < times; i++) {
      sockets.took(socket, TimeUnit.MILLISECONDS.toNanos(millis));
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
    took("socket", 10, 400);

    assertThat(usual("socket")).hasMillis(100);
  }

  @Test
  void slow_posts_move_the_usual_time_only_if_they_are_half_of_all() {
    took("quick", 5, 1);
    took("slow", 4, 400);
    assertThat(usual("socket")).hasMillis(100);

    took("slow", 1, 400);
    assertThat(usual("socket")).hasMillis(500);
  }

  @Test
  void only_the_last_32_posts_are_compared() {
    took("slow", 32, 400);
    took("quick", 16, 1);
    assertThat(usual("socket")).hasMillis(500);

    took("quick", 1, 1);
    assertThat(usual("socket")).hasMillis(100);
  }
}

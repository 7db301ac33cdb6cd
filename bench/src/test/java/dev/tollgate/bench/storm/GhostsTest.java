package dev.tollgate.bench.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class GhostsTest {
  private final Ghosts ghosts = new Ghosts();

  @Test
  void an_open_socket_is_not_a_ghost() {
    observe(10, 3, 3);
    observe(20, 2, 3);

    assertThat(ghosts.count()).isZero();
  }

  @Test
  void the_oldest_ghost_is_removed_first() {
    observe(10, 1, 0);
    observe(30, 2, 0);
    observe(100, 1, 0);

    assertThat(ghosts.count()).isEqualTo(1);
    assertThat(ghosts.removed()).isEqualTo(1);
    assertThat(ghosts.oldest()).contains(Duration.ofSeconds(30));
    assertThat(ghosts.oldestEver()).isEqualTo(Duration.ofSeconds(90));
  }

  @Test
  void a_late_disconnect_is_not_a_ghost() {
    observe(10, 1, 0);
    observe(11, 0, 0);

    assertThat(ghosts.count()).isZero();
    assertThat(ghosts.removed()).isZero();
    assertThat(ghosts.oldestEver()).isZero();
  }

  @Test
  void a_summary_adds_the_sessions() {
    Ghosts other = new Ghosts();
    other.observe(Duration.ofSeconds(10), 2, 0);
    other.observe(Duration.ofSeconds(80), 0, 0);
    observe(70, 2, 1);

    assertThat(Ghosts.summary(List.of(ghosts, other), Duration.ofSeconds(100)))
        .isEqualTo(
            "1 ghosts at the end, the oldest 30 s old; 2 removed before; none ever older than 70 s");
    assertThat(Ghosts.summary(List.of(other), Duration.ofSeconds(100)))
        .isEqualTo("0 ghosts at the end; 2 removed before; none ever older than 70 s");
  }

  private void observe(long seconds, int counted, int open) {
    ghosts.observe(Duration.ofSeconds(seconds), counted, open);
  }
}

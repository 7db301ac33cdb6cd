package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A sweep writes a metric of what it leaves to the next one. */
class SweepBacklogTest {
  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private List<String> backlogsOf(int minutes) {
    int before = at.context.logged().size();
    at.sweep(minutes);
    return at.context.logged().stream()
        .skip(before)
        .filter(line -> line.contains("SweepBacklog"))
        .toList();
  }

  @Test
  void sweep_that_leaves_nothing_writes_no_metric() {
    at.onboard("acme", "bronze");

    assertThat(backlogsOf(2)).isEmpty();
  }

  @Test
  void silo_that_drains_is_a_backlog_until_it_is_removed() {
    at.onboard("acme", "gold");
    assertThat(backlogsOf(2)).isEmpty();
    at.patch("acme", "{\"tier\":\"bronze\"}");

    assertThat(backlogsOf(1)).singleElement().asString().contains("\"SweepBacklog\":1}");
    at.sweep(4);
    assertThat(backlogsOf(2)).isEmpty();
  }
}

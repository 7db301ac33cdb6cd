package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.Faults;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @ValueSource(strings = {"Tiers.rolledOutRelease", "Tenants.inTier", "Tiers.markRolledOut"})
  void release_that_cannot_be_rolled_out_is_a_backlog(String call) {
    at.onboard("acme", "gold");
    at.sweep(2);
    at.tiers.markRolledOut(new Release("processor:0"));
    at.faults.none();
    assertThat(backlogsOf(1)).isEmpty();
    int failing = at.faults.calls().indexOf(call) + 1;
    assertThat(failing).isPositive();
    at.tiers.markRolledOut(new Release("processor:0"));
    at.faults.plan(failing, Faults.UNREACHABLE);

    assertThat(backlogsOf(1)).singleElement().asString().contains("\"SweepBacklog\":1}");
    assertThat(backlogsOf(1)).isEmpty();
  }

  @Test
  void release_whose_roll_out_takes_too_long_is_a_backlog() {
    at.onboard("acme", "gold");
    at.sweep(2);
    at.tiers.markRolledOut(new Release("processor:0"));
    at.faults.none();
    at.sweep(1);
    int last = at.faults.calls().indexOf("Tenants.inTier") + 1;
    at.tiers.markRolledOut(new Release("processor:0"));
    at.faults.plan(last, Faults.concurrently(() -> at.clock.advance(Duration.ofMinutes(10))));

    assertThat(backlogsOf(1)).singleElement().asString().contains("\"SweepBacklog\":1}");
  }
}

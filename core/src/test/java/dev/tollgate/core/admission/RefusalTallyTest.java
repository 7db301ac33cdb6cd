package dev.tollgate.core.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.testing.Town;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RefusalTallyTest {
  private static final Duration APART = Duration.ofSeconds(5);

  private final Town town = new Town();
  private final TenantId acme = town.onboard("acme", "gold", Map.of()).id();
  private final TenantId beta = town.onboard("beta", "gold", Map.of()).id();
  private final RefusalTally tally = town.tally();

  private long written(TenantId tenant) {
    return town.activity().of(tenant).refused();
  }

  @Test
  void a_lonely_refusal_is_written_at_once() {
    tally.count(acme);

    assertThat(written(acme)).isEqualTo(1);
  }

  @Test
  void those_that_follow_are_written_together_with_the_first_that_comes_five_seconds_later() {
    for (int i = 0; i < 10; i++) {
      tally.count(acme);
    }
    town.clock().advance(APART.minusNanos(1));
    tally.count(acme);
    assertThat(written(acme)).isEqualTo(1);

    town.clock().advance(Duration.ofNanos(1));
    tally.count(acme);
    assertThat(written(acme)).isEqualTo(12);

    tally.count(acme);
    assertThat(written(acme)).isEqualTo(12);
  }

  @Test
  void tenants_are_tallied_apart() {
    tally.count(acme);
    tally.count(acme);
    tally.count(beta);

    assertThat(written(acme)).isEqualTo(1);
    assertThat(written(beta)).isEqualTo(1);
    town.clock().advance(APART);
    tally.count(acme);
    assertThat(written(acme)).isEqualTo(3);
    assertThat(written(beta)).isEqualTo(1);
  }

  @Test
  void two_processes_add_up() {
    tally.count(acme);
    town.tally().count(acme);

    assertThat(written(acme)).isEqualTo(2);
  }

  @Test
  void a_write_that_fails_stops_nobody_and_is_not_repeated() {
    List<String> done = new ArrayList<>();
    town.activity().outage().begin();
    tally.count(acme, () -> done.add("besides"));
    town.activity().outage().end();
    tally.count(acme, () -> done.add("besides"));
    town.clock().advance(APART);
    tally.count(acme, () -> done.add("besides"));

    assertThat(done).hasSize(3);
    assertThat(written(acme)).isEqualTo(2);
  }

  @Test
  void a_write_that_is_never_answered_is_not_waited_for() {
    RefusalTally unanswered = new RefusalTally(town.activity(), write -> {}, town.clock());

    unanswered.count(acme);

    assertThat(written(acme)).isZero();
  }

  @Test
  void what_fails_besides_is_told_and_the_refusal_counted() {
    assertThatThrownBy(
            () ->
                tally.count(
                    acme,
                    () -> {
                      throw new Unavailable("besides");
                    }))
        .isInstanceOf(Unavailable.class);

    assertThat(written(acme)).isEqualTo(1);
  }

  @Test
  void of_more_tenants_than_are_kept_in_mind_the_one_refused_longest_ago_is_forgotten() {
    tally.count(acme);
    tally.count(acme);
    for (int i = 0; i < RefusalTally.MOST_TENANTS; i++) {
      tally.count(new TenantId("t-" + i));
    }

    tally.count(acme);

    assertThat(written(acme)).isEqualTo(2);
  }
}

package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RefusalTallyTest {
  private static final Duration APART = Duration.ofSeconds(5);

  private final AdmissionFixture ports = new AdmissionFixture();
  private final TenantId acme = ports.onboard("acme", "gold", Map.of()).id();
  private final TenantId beta = ports.onboard("beta", "gold", Map.of()).id();
  private final RefusalTally tally = ports.tally();

  private long written(TenantId tenant) {
    return ports.activity().of(tenant).refused();
  }

  @Test
  void single_refusal_is_written_at_once() {
    tally.count(acme, Refusal.TENANT_RATE, () -> {});

    assertThat(written(acme)).isEqualTo(1);
  }

  private void refuse(TenantId tenant, int times) {
    for (int i = 0; i < times; i++) {
      tally.count(tenant, Refusal.TENANT_RATE, () -> {});
    }
  }

  private void serve() {
    assertThat(tally.writeRestDuring(() -> "served")).isEqualTo("served");
  }

  @Test
  void half_of_a_storm_is_written_at_any_time() {
    for (int refused = 1; refused <= 1_000; refused++) {
      refuse(acme, 1);

      int written = Integer.highestOneBit(refused + 1) - 1;
      assertThat(written(acme)).isEqualTo(written).isGreaterThanOrEqualTo(refused - written);
    }
  }

  @Test
  void further_refusals_are_written_with_the_first_one_after_five_seconds() {
    refuse(acme, 10);
    assertThat(written(acme)).isEqualTo(7);
    ports.clock().advance(APART.minusNanos(1));
    refuse(acme, 1);
    assertThat(written(acme)).isEqualTo(7);

    ports.clock().advance(Duration.ofNanos(1));
    refuse(acme, 1);
    assertThat(written(acme)).isEqualTo(12);

    refuse(acme, 1);
    assertThat(written(acme)).isEqualTo(12);
  }

  @Test
  void next_request_after_the_end_of_a_storm_writes_the_rest() {
    refuse(acme, 10);
    refuse(beta, 2);
    ports.clock().advance(APART.minusNanos(1));
    serve();
    assertThat(written(acme)).isEqualTo(7);

    ports.clock().advance(Duration.ofNanos(1));
    serve();
    assertThat(written(acme)).isEqualTo(10);
    assertThat(written(beta)).isEqualTo(1);
    serve();
    assertThat(written(beta)).isEqualTo(2);
    serve();
    assertThat(written(acme) + written(beta)).isEqualTo(12);
  }

  @Test
  void what_an_ended_storm_left_is_not_half_of_the_next_one() {
    refuse(acme, 512);
    ports.clock().advance(APART);
    refuse(acme, 1);
    assertThat(written(acme)).isEqualTo(513);
    refuse(acme, 2);

    assertThat(written(acme)).isEqualTo(515);
  }

  @Test
  void late_write_does_not_replace_the_time_of_a_later_refusal() {
    RefusalTally other = ports.tally();
    tally.count(acme, Refusal.SESSION_CONNECTIONS, () -> {});
    tally.count(acme, Refusal.SESSION_CONNECTIONS, () -> {});
    ports.clock().advance(Duration.ofMinutes(30));
    other.count(acme, Refusal.SESSION_CONNECTIONS, () -> {});
    Instant latest = ports.clock().instant();
    serve();

    assertThat(written(acme)).isEqualTo(3);
    assertThat(count().sessionFullAt()).contains(latest);
  }

  @Test
  void clock_that_was_ahead_delays_no_write() {
    Instant now = ports.clock().instant();
    ports.clock().advance(Duration.ofHours(1));
    refuse(acme, 1);
    ports.clock().set(now);
    refuse(acme, 1);

    assertThat(written(acme)).isEqualTo(2);
  }

  @Test
  void rest_of_an_ended_storm_does_not_wait_for_a_storm_that_lasts() {
    refuse(acme, 2);
    refuse(beta, 2);
    ports.clock().advance(APART);
    refuse(acme, 1);
    serve();

    assertThat(written(acme)).isEqualTo(3);
    assertThat(written(beta)).isEqualTo(2);
  }

  @Test
  void write_counts_refusals_of_one_minute_and_says_when_the_last_one_was() {
    List<RefusalCounts> writes = new ArrayList<>();
    RefusalTally recorded = new RefusalTally(recording(writes), Runnable::run, ports.clock());
    ports.clock().set(Instant.parse("2026-03-01T12:00:58Z"));
    recorded.count(acme, Refusal.TENANT_RATE, () -> {});
    ports.clock().advance(Duration.ofMillis(1_999));
    recorded.count(acme, Refusal.TENANT_RATE, () -> {});
    ports.clock().advance(Duration.ofMillis(1));
    recorded.count(acme, Refusal.TENANT_RATE, () -> {});
    ports.clock().advance(APART);
    recorded.writeRestDuring(() -> true);

    assertThat(writes)
        .extracting(each -> each.lastAt() + " " + each.count())
        .containsExactly(
            "2026-03-01T12:00:58Z 1", "2026-03-01T12:00:59.999Z 1", "2026-03-01T12:01:00Z 1");
  }

  @Test
  void first_refusal_of_a_storm_is_written_beside_what_an_earlier_minute_left() {
    refuse(acme, 2);
    ports.clock().advance(Duration.ofMinutes(1));
    refuse(acme, 1);

    assertThat(written(acme)).isEqualTo(3);
  }

  @Test
  void tenants_are_counted_separately() {
    refuse(acme, 2);
    refuse(beta, 1);

    assertThat(written(acme)).isEqualTo(1);
    assertThat(written(beta)).isEqualTo(1);
    ports.clock().advance(APART);
    tally.count(acme, Refusal.TENANT_RATE, () -> {});
    assertThat(written(acme)).isEqualTo(3);
    assertThat(written(beta)).isEqualTo(1);
  }

  @Test
  void two_processes_add_up() {
    tally.count(acme, Refusal.TENANT_RATE, () -> {});
    ports.tally().count(acme, Refusal.TENANT_RATE, () -> {});

    assertThat(written(acme)).isEqualTo(2);
  }

  @Test
  void failed_write_is_ignored_and_not_repeated() {
    List<String> done = new ArrayList<>();
    ports.activity().outage().begin();
    tally.count(acme, Refusal.TENANT_RATE, () -> done.add("other work"));
    ports.activity().outage().end();
    tally.count(acme, Refusal.TENANT_RATE, () -> done.add("other work"));
    ports.clock().advance(APART);
    tally.count(acme, Refusal.TENANT_RATE, () -> done.add("other work"));

    assertThat(done).hasSize(3);
    assertThat(written(acme)).isEqualTo(2);
  }

  @Test
  void unanswered_write_delays_no_caller() {
    RefusalTally unanswered = new RefusalTally(ports.activity(), write -> {}, ports.clock());

    unanswered.count(acme, Refusal.TENANT_RATE, () -> {});

    assertThat(written(acme)).isZero();
  }

  @Test
  void interrupted_caller_stays_interrupted() {
    RefusalTally unanswered = new RefusalTally(ports.activity(), write -> {}, ports.clock());

    Thread.currentThread().interrupt();
    unanswered.count(acme, Refusal.TENANT_RATE, () -> {});

    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void other_failure_is_logged_and_the_refusal_counted() {
    assertThatThrownBy(
            () ->
                tally.count(
                    acme,
                    Refusal.TENANT_RATE,
                    () -> {
                      throw new Unavailable("other work");
                    }))
        .isInstanceOf(Unavailable.class);

    assertThat(written(acme)).isEqualTo(1);
  }

  @Test
  void refusal_at_the_connection_limit_is_written_at_once_and_then_every_five_seconds() {
    tally.count(acme, Refusal.TENANT_RATE, () -> {});
    ports.clock().advance(Duration.ofSeconds(1));
    Instant first = ports.clock().instant();
    tally.count(acme, Refusal.SESSION_CONNECTIONS, () -> {});
    assertThat(count().sessionFullAt()).contains(first);
    assertThat(count().tenantFullAt()).isEmpty();

    ports.clock().advance(APART.minusNanos(1));
    tally.count(acme, Refusal.SESSION_CONNECTIONS, () -> {});
    assertThat(count().sessionFullAt()).contains(first);
    tally.count(acme, Refusal.TENANT_CONNECTIONS, () -> {});
    assertThat(count().tenantFullAt()).contains(ports.clock().instant());
    assertThat(count().sessionFullAt()).contains(ports.clock().instant());

    ports.clock().advance(APART);
    tally.count(acme, Refusal.TENANT_CONNECTIONS, () -> {});
    assertThat(count().tenantFullAt()).contains(ports.clock().instant());
    assertThat(written(acme)).isEqualTo(5);
  }

  private static Activity recording(List<RefusalCounts> writes) {
    return new Activity() {
      @Override
      public void addRefused(TenantId tenant, RefusalCounts refusals) {
        writes.add(refusals);
      }

      @Override
      public TenantActivity of(TenantId tenant) {
        throw new AssertionError("unexpected read");
      }
    };
  }

  /** Eight because of the half, and two because of the limits. */
  @Test
  void thousand_refusals_of_all_reasons_in_a_second_cost_ten_writes() {
    List<RefusalCounts> writes = new ArrayList<>();
    List<Refusal> kinds = List.copyOf(EnumSet.allOf(Refusal.class));
    RefusalTally busy = new RefusalTally(recording(writes), Runnable::run, ports.clock());

    for (int i = 0; i < 1_000; i++) {
      busy.count(acme, kinds.get(i % kinds.size()), () -> {});
      ports.clock().advance(Duration.ofMillis(1));
    }

    assertThat(writes).hasSize(10);
  }

  private ConnectionCount count() {
    return ports.sessions().readCount(acme);
  }

  @Test
  void full_tally_evicts_the_tenant_refused_longest_ago() {
    tally.count(acme, Refusal.TENANT_RATE, () -> {});
    tally.count(acme, Refusal.TENANT_RATE, () -> {});
    for (int i = 0; i < RefusalTally.MAX_TENANTS; i++) {
      tally.count(new TenantId("t-" + i), Refusal.TENANT_RATE, () -> {});
    }

    tally.count(acme, Refusal.TENANT_RATE, () -> {});

    assertThat(written(acme)).isEqualTo(2);
  }
}

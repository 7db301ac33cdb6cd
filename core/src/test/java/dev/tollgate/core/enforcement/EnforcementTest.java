package dev.tollgate.core.enforcement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.memory.InMemoryAdmitAllSwitch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EnforcementTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final InMemoryAdmitAllSwitch admitAll = new InMemoryAdmitAllSwitch();
  private final Enforcement enforcement = new Enforcement(admitAll, clock);

  private AdmitAll on(Duration time) {
    Instant now = clock.instant();
    return new AdmitAll(now, now.plus(time), "a test", "me");
  }

  @Test
  void refusals_follow_the_switch_within_five_seconds() {
    assertThat(enforcement.lifted()).isEmpty();
    AdmitAll on = on(HOUR);
    admitAll.turnOn(on);
    clock.advance(Enforcement.KNOWN_FOR.minusNanos(1));
    assertThat(enforcement.lifted()).isEmpty();
    clock.advance(Duration.ofNanos(1));
    assertThat(enforcement.lifted()).contains(on);

    admitAll.turnOff();
    clock.advance(Enforcement.KNOWN_FOR.minusNanos(1));
    assertThat(enforcement.lifted()).contains(on);
    clock.advance(Duration.ofNanos(1));
    assertThat(enforcement.lifted()).isEmpty();
  }

  @Test
  void it_ends_by_itself_at_its_time() {
    admitAll.turnOn(on(HOUR));
    clock.advance(HOUR.minusNanos(1));
    assertThat(enforcement.lifted()).isPresent();
    clock.advance(Duration.ofNanos(1));

    assertThat(enforcement.lifted()).isEmpty();
    assertThat(enforcement.knownLifted()).isEmpty();
  }

  @Test
  void admitted_requests_read_nothing_while_limits_are_enforced() {
    enforcement.lifted();
    clock.advance(HOUR);
    for (int i = 0; i < 100; i++) {
      assertThat(enforcement.knownLifted()).isEmpty();
    }

    assertThat(admitAll.reads()).isEqualTo(1);
  }

  @Test
  void all_requests_of_five_seconds_cost_one_read() {
    admitAll.turnOn(on(HOUR));
    for (int i = 0; i < 100; i++) {
      assertThat(enforcement.lifted()).isPresent();
      assertThat(enforcement.knownLifted()).isPresent();
      clock.advance(Duration.ofMillis(100));
    }

    assertThat(admitAll.reads()).isEqualTo(2);
  }

  @Test
  void admitted_requests_find_out_that_it_was_turned_off() {
    admitAll.turnOn(on(HOUR));
    enforcement.lifted();
    admitAll.turnOff();
    clock.advance(Enforcement.KNOWN_FOR);

    assertThat(enforcement.knownLifted()).isEmpty();
  }

  @Test
  void what_was_read_last_holds_while_the_switch_cannot_be_read() {
    admitAll.turnOn(on(HOUR));
    enforcement.lifted();
    admitAll.outage().begin();
    clock.advance(HOUR.minusSeconds(1));
    assertThat(enforcement.lifted()).isPresent();
    assertThat(enforcement.knownLifted()).isPresent();
    assertThat(admitAll.reads()).isEqualTo(2);
    clock.advance(Duration.ofSeconds(1));
    assertThat(enforcement.lifted()).isEmpty();

    assertThat(new Enforcement(admitAll, clock).lifted()).isEmpty();
  }

  @Test
  void an_unreadable_row_counts_as_a_failure_to_read() {
    AdmitAllSwitch unreadable =
        new AdmitAllSwitch() {
          @Override
          public Optional<AdmitAll> read() {
            throw new UnreadableRow("the switch", "#admit-all", "until is missing");
          }

          @Override
          public void turnOn(AdmitAll state) {}

          @Override
          public void turnOff() {}
        };

    assertThat(new Enforcement(unreadable, clock).lifted()).isEmpty();
  }

  @Test
  void a_process_knows_what_it_wrote_itself() {
    AdmitAll on = on(HOUR);
    assertThat(enforcement.lifted()).isEmpty();
    enforcement.learn(Optional.of(on));
    assertThat(enforcement.lifted()).contains(on);
    enforcement.learn(Optional.empty());
    assertThat(enforcement.lifted()).isEmpty();

    assertThat(admitAll.reads()).isEqualTo(1);
  }

  @Test
  void one_thread_reads_and_the_others_go_on_with_what_is_known() {
    List<Optional<AdmitAll>> others = new ArrayList<>();
    AtomicReference<Enforcement> slow = new AtomicReference<>();
    AdmitAllSwitch hanging =
        new InMemoryAdmitAllSwitch() {
          @Override
          public synchronized Optional<AdmitAll> read() {
            others.add(slow.get().lifted());
            clock.advance(Enforcement.KNOWN_FOR);
            return super.read();
          }
        };
    slow.set(new Enforcement(hanging, clock));
    hanging.turnOn(on(HOUR));

    assertThat(slow.get().lifted()).isPresent();
    assertThat(others).containsExactly(Optional.empty());
    assertThat(slow.get().lifted()).isPresent();
    assertThat(others).hasSize(1);
  }

  @Test
  void a_clock_that_was_ahead_hides_nothing() {
    clock.advance(HOUR);
    assertThat(enforcement.lifted()).isEmpty();
    clock.set(Samples.NOW);
    admitAll.turnOn(on(HOUR));

    assertThat(enforcement.lifted()).isPresent();
  }

  @Test
  void it_is_on_for_a_day_at_most() {
    assertThat(on(Duration.ofDays(1)).until()).isEqualTo(Samples.NOW.plus(Duration.ofDays(1)));
    assertThatThrownBy(() -> on(Duration.ofDays(1).plusNanos(1))).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> on(Duration.ZERO)).isInstanceOf(InvalidValue.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "two\nlines", "\u001b[31m"})
  void reason_is_one_line_of_text(String reason) {
    assertThatThrownBy(() -> new AdmitAll(Samples.NOW, Samples.NOW.plusSeconds(1), reason, "me"))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("reason");
  }
}

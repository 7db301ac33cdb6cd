package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.testing.Samples;
import org.junit.jupiter.api.Test;

/** The contract of {@link AdmitAllSwitch}. */
public abstract class AdmitAllSwitchContract {
  /** The switch under test, which was never turned on. */
  protected abstract AdmitAllSwitch admitAll();

  private static AdmitAll on(long minutes, String reason) {
    return new AdmitAll(
        Samples.NOW, Samples.NOW.plusSeconds(60 * minutes), reason, "arn:aws:iam::1:user/ü");
  }

  @Test
  void it_is_off_until_it_is_turned_on() {
    assertThat(admitAll().read()).isEmpty();

    admitAll().turnOn(on(60, "the queues fail: \"zero\" ü"));

    assertThat(admitAll().read()).contains(on(60, "the queues fail: \"zero\" ü"));
  }

  @Test
  void turning_it_on_again_replaces_time_and_reason() {
    admitAll().turnOn(on(60, "first"));
    admitAll().turnOn(on(10, "second"));

    assertThat(admitAll().read()).contains(on(10, "second"));
  }

  @Test
  void it_can_be_turned_off_twice() {
    admitAll().turnOn(on(60, "first"));
    admitAll().turnOff();
    admitAll().turnOff();

    assertThat(admitAll().read()).isEmpty();
  }
}

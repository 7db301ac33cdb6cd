package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.alarm.Alarm;
import dev.tollgate.core.alarm.Alarm.State;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.http.testing.HttpApiEvents;
import org.junit.jupiter.api.Test;

/** The alarms in the API. */
class AlarmsTest {
  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private Answer get() {
    return at.send(HttpApiEvents.of("GET /alarms"));
  }

  @Test
  void a_deployment_without_alarms_has_an_empty_list() {
    assertThat(get().document().toString()).isEqualTo("{\"alarms\":[]}");
  }

  @Test
  void alarms_are_listed_with_state_and_runbook() {
    at.alarms.add(
        new Alarm(
            "fills-late",
            "Fills are late.",
            State.ALARM,
            ControlPlaneFixture.START,
            "Threshold Crossed",
            "docs/runbooks/fills-late.md"));

    assertThat(get().status()).isEqualTo(200);
    assertThat(get().document().toString())
        .isEqualTo(
            "{\"alarms\":[{\"name\":\"fills-late\",\"state\":\"ALARM\",\"since\":\""
                + ControlPlaneFixture.START
                + "\",\"reason\":\"Threshold Crossed\",\"meaning\":\"Fills are late.\","
                + "\"runbook\":\"docs/runbooks/fills-late.md\"}]}");
  }

  @Test
  void an_answer_that_does_not_come_is_503() {
    at.faults.plan(1, Faults.UNREACHABLE);

    assertThat(get().status()).isEqualTo(503);
  }
}

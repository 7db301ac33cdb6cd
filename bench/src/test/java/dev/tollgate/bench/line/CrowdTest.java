package dev.tollgate.bench.line;

import static dev.tollgate.bench.line.ScriptedGate.admitted;
import static dev.tollgate.bench.line.ScriptedGate.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.line.Attempt.Result;
import dev.tollgate.bench.line.Scenario.Arrival;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CrowdTest {
  private final MovedAgenda agenda = new MovedAgenda();
  private final ScriptedGate gate = new ScriptedGate(agenda);

  private Crowd crowd(Manners... manners) {
    List<Arrival> arrivals =
        Arrays.stream(manners).map(one -> new Arrival(one, Duration.ofSeconds(1))).toList();
    return new Crowd(
        new Scenario("test", "a test", true, arrivals, Optional.empty(), Optional.empty()),
        agenda,
        gate);
  }

  private static List<Long> millis(Crowd crowd) {
    return crowd.attempts().stream().map(attempt -> attempt.sent().toMillis()).toList();
  }

  @Test
  void a_polite_client_waits_from_its_answer_for_as_long_as_it_was_told() throws Exception {
    gate.answers(0, refused(7), refused(2), admitted());
    Crowd crowd = crowd(Manners.POLITE);

    agenda.passUntil(Duration.ofSeconds(10));
    assertThat(crowd.awaitAll(Duration.ZERO)).isFalse();
    agenda.passUntil(Duration.ofMinutes(1));

    assertThat(millis(crowd)).containsExactly(1_000L, 8_100L, 10_200L);
    assertThat(crowd.attempts())
        .extracting(Attempt::result)
        .containsExactly(Result.REFUSED, Result.REFUSED, Result.ADMITTED);
    assertThat(crowd.attempts().get(2).answered()).isEqualTo(Duration.ofMillis(10_300));
    assertThat(crowd.awaitAll(Duration.ZERO)).isTrue();
  }

  @Test
  void an_impolite_client_tries_every_second() {
    gate.answers(0, refused(60), refused(59), admitted());
    Crowd crowd = crowd(Manners.IMPOLITE);

    agenda.passUntil(Duration.ofMinutes(2));

    assertThat(millis(crowd)).containsExactly(1_000L, 2_000L, 3_000L);
  }

  @Test
  void a_no_show_leaves_after_its_refusal() throws Exception {
    gate.answers(0, refused(5));
    Crowd crowd = crowd(Manners.NO_SHOW);

    agenda.passUntil(Duration.ofMinutes(1));

    assertThat(millis(crowd)).containsExactly(1_000L);
    assertThat(crowd.awaitAll(Duration.ZERO)).isTrue();
  }

  @Test
  void a_client_without_an_answer_tries_again_a_second_later() {
    gate.answers(0, new Gate.Answer.Failed("503"), admitted());
    Crowd crowd = crowd(Manners.POLITE);

    agenda.passUntil(Duration.ofMinutes(1));

    assertThat(millis(crowd)).containsExactly(1_000L, 2_100L);
    assertThat(crowd.attempts().get(0).result()).isEqualTo(Result.FAILED);
  }

  @Test
  void an_exception_of_the_gate_is_a_failed_attempt() {
    Crowd crowd = crowd(Manners.POLITE);

    agenda.passUntil(Duration.ofSeconds(1));

    assertThat(crowd.attempts()).extracting(Attempt::result).containsExactly(Result.FAILED);
  }
}

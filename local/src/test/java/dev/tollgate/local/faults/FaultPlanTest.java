package dev.tollgate.local.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FaultPlanTest {
  @TempDir private Path directory;

  @Test
  void a_plan_is_read() throws IOException {
    FaultPlan plan =
        read(
            """
            seed: 7
            faults:
              queue-falsely-empty: 0.25
              function-killed: 1
            throttled: {sqs: 0.5}
            latency:
              sqs: tail
              dynamodb: [[0.5, 3], [1, 20]]
            """);

    assertThat(plan.seed()).isEqualTo(7);
    assertThat(plan.odds())
        .isEqualTo(Map.of(FaultKind.QUEUE_FALSELY_EMPTY, 0.25, FaultKind.FUNCTION_KILLED, 1.0));
    assertThat(plan.throttled()).isEqualTo(Map.of("sqs", 0.5));
    assertThat(plan.latency().get("sqs")).isEqualTo(Latency.TAIL);
    assertThat(new Faults(plan).latency("dynamodb", "GetItem")).isPositive();
    assertThat(new Faults(plan).latency("sts", "AssumeRole")).isZero();
  }

  @Test
  void the_plan_that_is_shown_is_one_and_names_every_misfortune() throws IOException {
    FaultPlan plan = FaultPlan.read(Path.of("../docs/faults.yaml"));

    assertThat(plan.odds().keySet()).containsExactlyInAnyOrder(FaultKind.values());
    assertThat(plan.throttled().keySet()).isEqualTo(FaultPlan.SERVICES);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "faults: {queue-empty: 0.1}| faults: queue-empty (expected: one of queue-falsely-empty,",
        "faults: {queue-falsely-empty: 2}| queue-falsely-empty: 2.0 (expected: a probability",
        "faults: {queue-falsely-empty: often}| queue-falsely-empty: often (expected: a number",
        "throttled: {s3: 0.1}| throttled: s3 (expected: one of [dynamodb,",
        "latency: {sqs: slow}| latency.sqs: slow (expected: tail, or a list",
        "latency: {sqs: [[0.5, 10], [0.4, 20]]}| (expected: rising quantiles and times)",
        "latency: {sqs: [[2, 10]]}| quantile: 2.0 (expected: 0 to 1)",
        "fault: {}| plan: fault (expected: one of [faults, latency, seed, throttled])",
        "- 1| plan: [1] (expected: names with values)",
        "'seed: [1'| plan.yaml",
      })
  void a_plan_that_is_none_is_refused(String text, String message) {
    assertThatThrownBy(() -> read(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("plan.yaml")
        .hasMessageContaining(message);
  }

  @Test
  void what_strikes_a_subject_is_the_same_in_every_run_whatever_strikes_others() {
    FaultPlan plan =
        new FaultPlan(42, Map.of(FaultKind.QUEUE_FALSELY_EMPTY, 0.5), Map.of(), Map.of());
    Faults alone = new Faults(plan);
    Faults besides = new Faults(plan);
    List<Boolean> first = new ArrayList<>();
    List<Boolean> second = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      first.add(alone.occurs(FaultKind.QUEUE_FALSELY_EMPTY, "a"));
      besides.occurs(FaultKind.QUEUE_FALSELY_EMPTY, "b");
      second.add(besides.occurs(FaultKind.QUEUE_FALSELY_EMPTY, "a"));
    }

    assertThat(second).isEqualTo(first);
    assertThat(first.stream().filter(struck -> struck).count()).isBetween(400L, 600L);
    assertThat(alone.counts())
        .isEqualTo(Map.of("queue-falsely-empty", first.stream().filter(struck -> struck).count()));
    Faults another = new Faults(new FaultPlan(43, plan.odds(), plan.throttled(), plan.latency()));
    assertThat(first.stream().map(s -> another.occurs(FaultKind.QUEUE_FALSELY_EMPTY, "a")))
        .isNotEqualTo(first);
  }

  @Test
  void nothing_strikes_while_it_is_calm() {
    Faults faults =
        new Faults(
            new FaultPlan(
                1,
                Map.of(FaultKind.DISCONNECT_LOST, 1.0, FaultKind.QUEUE_EXPIRES_EARLY, 1.0),
                Map.of("sqs", 1.0),
                Map.of("sqs", Latency.TAIL)));
    faults.pause();
    assertThat(faults.occurs(FaultKind.DISCONNECT_LOST, "a")).isFalse();
    assertThat(faults.occursIn(FaultKind.QUEUE_EXPIRES_EARLY, "a", Instant.EPOCH)).isFalse();
    assertThat(faults.throttles("sqs", "a")).isFalse();
    assertThat(faults.latency("sqs", "a")).isZero();
    faults.resume();
    assertThat(faults.occurs(FaultKind.DISCONNECT_LOST, "a")).isTrue();
    assertThat(faults.occursIn(FaultKind.QUEUE_EXPIRES_EARLY, "a", Instant.EPOCH)).isTrue();
    assertThat(faults.throttles("sqs", "a")).isTrue();
  }

  @Test
  void the_tail_is_as_it_was_measured() {
    Faults faults = new Faults(new FaultPlan(3, Map.of(), Map.of(), Map.of("sqs", Latency.TAIL)));
    long[] millis = new long[10_000];
    for (int i = 0; i < millis.length; i++) {
      millis[i] = faults.latency("sqs", "SendMessage").toMillis();
    }
    Arrays.sort(millis);
    assertThat(millis[5_000]).isCloseTo(6, within(1L));
    assertThat(millis[9_000]).isCloseTo(40, within(6L));
    assertThat(millis[9_700]).isCloseTo(95, within(15L));
    assertThat(millis[9_999]).isGreaterThan(1_000);
    assertThat(Latency.TAIL.at(1)).isEqualTo(Duration.ofSeconds(5));
  }

  private FaultPlan read(String text) throws IOException {
    return FaultPlan.read(Files.writeString(directory.resolve("plan.yaml"), text));
  }
}

package dev.tollgate.bench.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.bench.scale.Aws.Request;
import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.core.Unavailable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The simulated clock and the quotas. */
class AwsTest {
  private final SimulatedTime time = new SimulatedTime();
  private final Aws aws = new Aws(time, new Random(1), Map.of("sqs-standard-request", 1.0));

  @Test
  void a_second_takes_no_more_than_the_quota() {
    Quota quota = new Quota("handshakes", 2, "");

    assertThat(List.of(quota.take(1, 1), quota.take(2, 1), quota.take(3, 1)))
        .containsExactly(true, true, false);
    assertThat(quota.take(SimulatedTime.SECOND, 1)).isTrue();
    assertThat(quota.peak()).isEqualTo(3);
    assertThat(quota.refused()).isEqualTo(1);
  }

  @Test
  void a_request_without_an_answer_takes_all_attempts_and_fails() {
    aws.stopQueues(0, 60 * SimulatedTime.SECOND);

    assertThatThrownBy(() -> aws.send(Request.queue(Service.SQS, 3)))
        .isInstanceOf(Unavailable.class);
    assertThat(time.now()).isBetween(4 * SimulatedTime.SECOND, 5 * SimulatedTime.SECOND);
  }

  @Test
  void requests_are_billed() {
    aws.send(Request.queue(Service.SQS, 1));

    assertThat(aws.bill()).isEqualTo(Map.of("sqs-standard-request", 1.0));
  }

  @Test
  void tasks_run_side_by_side_on_the_threads_of_an_executor() {
    List<Long> began = new ArrayList<>();
    long end =
        time.endOf(
            () -> {
              Executor executor = time.executor(2);
              for (int i = 0; i < 3; i++) {
                executor.execute(
                    () -> {
                      began.add(time.now());
                      time.pass(10);
                    });
              }
            });

    assertThat(began).containsExactly(0L, 0L, 10L);
    assertThat(end).isEqualTo(20);
    assertThat(time.now()).isZero();
  }

  @Test
  void executions_beyond_the_quota_are_throttled() {
    Functions functions = new Functions(time, aws);
    Functions.Function<String> function = functions.function("one", () -> "code");
    for (int i = 0; i < Functions.CONCURRENCY; i++) {
      assertThat(function.invoke(instance -> {})).isPositive();
    }

    assertThat(function.invoke(instance -> {})).isNegative();
    assertThat(functions.usage("one").throttled()).isEqualTo(1);
    assertThat(functions.peak()).isEqualTo(Functions.CONCURRENCY);
  }
}

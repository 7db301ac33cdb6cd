package dev.tollgate.local.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.InvocationResult.Throttled;
import dev.tollgate.local.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AsyncInvocationsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final String ARN = "arn:aws:lambda:us-east-1:000000000000:function:f";
  private static final InvocationResult FAILED = new Failure("E", "no", List.of());
  private static final InvocationResult THROTTLED = new Throttled("too many");

  private final ManualClock clock = new ManualClock(START);
  private final List<Long> attempts = Collections.synchronizedList(new ArrayList<>());
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private volatile InvocationResult result = FAILED;
  private final AsyncInvocations queue =
      new AsyncInvocations(
          (function, payload) -> {
            attempts.add(Duration.between(START, clock.instant()).toSeconds());
            return CompletableFuture.completedFuture(result);
          },
          function ->
              function.equals("g")
                  ? Optional.empty()
                  : Optional.of(Json.object().put("FunctionArn", ARN)),
          (name, role) -> {
            throw new IllegalStateException("no destination is configured");
          },
          clock,
          log::add);

  @AfterEach
  void close() {
    queue.close();
  }

  private void live(Duration time) throws InterruptedException {
    for (Instant end = clock.instant().plus(time); clock.instant().isBefore(end); ) {
      clock.advance(Duration.ofSeconds(1));
      queue.settle();
    }
  }

  private void accept() throws InterruptedException {
    assertThat(queue.accept("f", "{}")).isPresent();
    queue.settle();
  }

  private void configure(int retries, Duration maximumAge) {
    queue.configure(
        ARN, new AsyncInvocations.Config(retries, maximumAge, Optional.empty(), Optional.empty()));
  }

  @Test
  void function_that_fails_is_retried_after_one_minute_and_two() throws InterruptedException {
    accept();
    live(Duration.ofMinutes(10));

    assertThat(attempts).containsExactly(0L, 60L, 180L);
    assertThat(log).containsExactly(ARN + ": an asynchronous event is given up: RetriesExhausted");
  }

  @Test
  void retry_that_succeeds_is_the_last() throws InterruptedException {
    accept();
    result = new Success(new byte[0]);
    live(Duration.ofMinutes(10));

    assertThat(attempts).containsExactly(0L, 60L);
    assertThat(log).isEmpty();
  }

  @Test
  void function_without_retries_is_attempted_once() throws InterruptedException {
    configure(0, Duration.ofHours(6));
    accept();
    live(Duration.ofMinutes(10));

    assertThat(attempts).containsExactly(0L);
    assertThat(log).hasSize(1);
  }

  @Test
  void throttled_event_is_retried_ever_later_and_uses_no_retry() throws InterruptedException {
    configure(0, Duration.ofHours(6));
    result = THROTTLED;
    accept();
    live(Duration.ofMinutes(20));

    assertThat(attempts)
        .containsExactly(0L, 1L, 3L, 7L, 15L, 31L, 63L, 127L, 255L, 511L, 811L, 1_111L);
    assertThat(log).isEmpty();
  }

  @Test
  void event_that_is_too_old_is_given_up() throws InterruptedException {
    configure(2, Duration.ofMinutes(1));
    result = THROTTLED;
    accept();
    live(Duration.ofMinutes(10));

    assertThat(attempts).containsExactly(0L, 1L, 3L, 7L, 15L, 31L);
    assertThat(log).containsExactly(ARN + ": an asynchronous event is given up: EventAgeExceeded");
  }

  @Test
  void clock_that_jumps_beyond_the_age_leaves_no_attempt() throws InterruptedException {
    accept();
    clock.advance(Duration.ofHours(7));
    queue.settle();

    assertThat(attempts).containsExactly(0L);
    assertThat(log).hasSize(1);
  }

  @Test
  void function_that_does_not_exist_is_refused() {
    assertThat(queue.accept("g", "{}")).isEmpty();
  }
}

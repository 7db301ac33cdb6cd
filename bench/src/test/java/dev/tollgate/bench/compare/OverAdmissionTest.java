package dev.tollgate.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.contenders.Contender.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OverAdmissionTest {
  /** Ten tokens, and one more each second. */
  private static final Terms TERMS = new Terms(10, 60);

  private static Decision admitted(long sentMillis, long answeredMillis) {
    return new Decision(
        Duration.ofMillis(sentMillis).toNanos(), Duration.ofMillis(answeredMillis).toNanos(), true);
  }

  private static List<Decision> burst(int tokens) {
    return new ArrayList<>(Collections.nCopies(tokens, admitted(0, 10)));
  }

  @Test
  void full_bucket_is_no_excess_and_one_token_more_is() {
    assertThat(OverAdmission.of(burst(10), TERMS, 1)).isZero();
    assertThat(OverAdmission.of(burst(11), TERMS, 1)).isEqualTo(1);
  }

  @Test
  void refill_is_no_excess_from_the_instant_at_which_it_is_due() {
    List<Decision> decisions = burst(10);
    decisions.add(admitted(990, 1_000));
    assertThat(OverAdmission.of(decisions, TERMS, 1)).isZero();

    decisions.set(10, admitted(980, 999));
    assertThat(OverAdmission.of(decisions, TERMS, 1)).isEqualTo(1);
  }

  @Test
  void bucket_that_refilled_unasked_is_judged_in_the_window_of_its_burst() {
    List<Decision> decisions = burst(10);
    decisions.addAll(Collections.nCopies(11, admitted(60_000, 60_010)));

    assertThat(OverAdmission.of(decisions, TERMS, 1)).isEqualTo(1);
  }

  @Test
  void tokens_of_a_decision_count_and_refusals_do_not() {
    assertThat(OverAdmission.of(burst(1), TERMS, 10)).isZero();
    assertThat(OverAdmission.of(burst(2), TERMS, 10)).isEqualTo(10);
    assertThat(OverAdmission.of(List.of(new Decision(0, 1, false)), TERMS, 10)).isZero();
  }

  @Test
  void ideal_bucket_has_no_excess_whenever_it_is_asked() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    List<Decision> decisions = new ArrayList<>();
    long now = 0;
    long arrival = 0;
    for (int i = 0; i < 2_000; i++) {
      now += random.nextInt(1_500);
      boolean free = Math.max(arrival, now) <= now + 9_000;
      if (free) {
        arrival = Math.max(arrival, now) + 1_000;
        decisions.add(admitted(now - random.nextInt(50), now + random.nextInt(50)));
      }
    }
    assertThat(OverAdmission.of(decisions, TERMS, 1)).as("seed %d", seed).isZero();
  }

  /** A planted fault: all callers read the count before any of them writes it. */
  @Test
  void limiter_that_reads_before_others_have_written_is_seen() throws InterruptedException {
    AtomicInteger count = new AtomicInteger(9);
    CyclicBarrier bothHaveRead = new CyclicBarrier(2);
    try (Clients clients = new Clients(2)) {
      Calls calls =
          Calls.make(
              clients,
              2,
              List.of(
                  () -> {
                    boolean free = count.get() < 10;
                    meet(bothHaveRead);
                    count.incrementAndGet();
                    return free;
                  }),
              new Calls.Bounds(1, Duration.ofHours(1)),
              () -> 0);

      assertThat(OverAdmission.of(calls.decisions(), new Terms(1, 1), 1)).isEqualTo(1);
    }
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void calls_end_after_their_number_and_failures_are_no_decisions() throws InterruptedException {
    AtomicInteger asked = new AtomicInteger();
    try (Clients clients = new Clients(4)) {
      Calls calls =
          Calls.make(
              clients,
              4,
              List.of(
                  () -> {
                    if (asked.incrementAndGet() % 2 == 0) {
                      throw new IllegalStateException("planted");
                    }
                    return true;
                  }),
              new Calls.Bounds(5, Duration.ofHours(1)),
              () -> 0);

      assertThat(calls.decisions()).hasSize(10);
      assertThat(calls.failures()).isEqualTo(10);
    }
  }

  @Test
  void callers_share_the_keys_evenly() throws InterruptedException {
    List<AtomicInteger> asked = IntStream.range(0, 4).mapToObj(key -> new AtomicInteger()).toList();
    try (Clients clients = new Clients(8)) {
      var unused =
          Calls.make(
              clients,
              8,
              asked.stream()
                  .map(
                      key ->
                          (dev.tollgate.bench.contenders.Limiter) () -> key.incrementAndGet() > 0)
                  .toList(),
              new Calls.Bounds(3, Duration.ofHours(1)),
              () -> 0);
    }
    assertThat(asked).extracting(AtomicInteger::get).containsOnly(6);
  }
}

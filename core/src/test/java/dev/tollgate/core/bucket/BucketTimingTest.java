package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.testing.RateBound;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the times at which tokens appear with an ideal token bucket. */
final class BucketTimingTest {
  private static final int SEEDS = 10 * Integer.getInteger("tests.times", 1);
  private static final Duration STEP = Duration.ofMillis(50);

  /** The time from a fill request until the token producer starts. */
  private static final Duration INVOCATION = Duration.ofMillis(300);

  private static BucketSpec spec(String perMinute, long capacity) {
    return new BucketSpec(
        Rate.perMinute(new BigDecimal(perMinute)), capacity, new FillPolicy(FillMode.PRODUCER, 15));
  }

  /**
   * A simulated deployment: schedules fire as {@link SimulatedBucket#minute} defines, and fill
   * requests take a while.
   */
  private static class SimulatedBucket {
    private final AdmissionFixture ports = new AdmissionFixture();
    private final BucketMaintenance maintenance = ports.maintenance();
    private final BucketId id = new BucketId(new TenantId("acme"), new Action("send-email"));
    private final PriorityQueue<Task> tasks = new PriorityQueue<>(Comparator.comparing(Task::at));
    private final Random random;
    private final Duration second;
    private final Claims claims =
        new Claims(
            ports.buckets(),
            ports.queue(),
            new Requests(),
            Runnable::run,
            this::pass,
            ports.clock());
    private int requests;

    SimulatedBucket(long seed, BucketSpec spec) {
      random = new Random(seed);
      second = Duration.ofMillis(random.nextInt(59_000));
      ports.clock().advance(Duration.ofMillis(random.nextInt(60_000)));
      ports.open(id, spec);
      next(AdmissionFixture.START);
    }

    private void next(Instant minute) {
      tasks.add(
          new Task(
              minute,
              () -> {
                minute(minute.plus(second));
                next(minute.plusSeconds(60));
              }));
    }

    /** Fires the bucket's schedule, which is due at this instant. */
    void minute(Instant due) {
      fireAt(due);
    }

    void fireAt(Instant then) {
      tasks.add(
          new Task(
              then,
              () -> {
                if (row().fillState().state() == FillState.State.PRODUCED) {
                  maintenance.maintain(id, Instant.MAX);
                }
              }));
    }

    Instant now() {
      return ports.clock().instant();
    }

    Bucket row() {
      return ports.buckets().find(id).orElseThrow();
    }

    void pass(Duration time) {
      passUntil(now().plus(time));
    }

    void passUntil(Instant then) {
      while (!tasks.isEmpty() && !tasks.peek().at().isAfter(then)) {
        Task task = tasks.remove();
        if (task.at().isAfter(now())) {
          ports.clock().set(task.at());
        }
        task.work().run();
      }
      ports.clock().set(then);
    }

    ClaimResult claim() {
      return claims.spend(row(), 1, new Attempt());
    }

    int drain() {
      int tokens = 0;
      while (claim() instanceof ClaimResult.Granted) {
        tokens++;
      }
      return tokens;
    }

    private final class Requests implements FillRequests {
      @Override
      public void send(BucketId bucket) {
        requests++;
        tasks.add(
            new Task(
                now().plus(INVOCATION), () -> maintenance.maintainOnRequest(bucket, Instant.MAX)));
      }

      @Override
      public void sendAndWait(BucketId bucket) {
        requests++;
        maintenance.maintainOnRequest(bucket, Instant.MAX);
      }
    }

    private record Task(Instant at, Runnable work) {}
  }

  private static Duration interval(String perMinute, long tokens) {
    return Duration.ofNanos(
        BigDecimal.valueOf(60_000_000_000L)
            .multiply(BigDecimal.valueOf(tokens))
            .divide(new BigDecimal(perMinute), java.math.RoundingMode.CEILING)
            .longValueExact());
  }

  // Lateness.

  @ParameterizedTest
  @CsvSource({"12,12", "60,60", "7,7", "60,20", "180,180", "0.2,5"})
  void drained_bucket_delivers_each_token_at_most_two_seconds_late(
      String perMinute, long capacity) {
    List<Duration> late = new ArrayList<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec(perMinute, capacity));
      simulated.pass(Duration.ofMillis(90_000 + simulated.random.nextInt(60_000)));
      simulated.drain();
      Instant drained = simulated.now();
      for (int token = 1; token <= 3 * Math.max(3, Math.ceil(Double.parseDouble(perMinute))); ) {
        simulated.pass(STEP);
        if (simulated.claim() instanceof ClaimResult.Granted) {
          late.add(Duration.between(drained.plus(interval(perMinute, token)), simulated.now()));
          assertThat(late.get(late.size() - 1))
              .as("seed %d, token %d", seed, token)
              .isLessThanOrEqualTo(Duration.ofSeconds(2));
          token++;
        }
      }
    }
    late.sort(Comparator.naturalOrder());
    assertThat(late.get(late.size() / 2)).isLessThanOrEqualTo(Duration.ofSeconds(1).plus(STEP));
  }

  @ParameterizedTest
  @CsvSource({"12,12", "60,60", "7,7", "60,20", "0.2,5"})
  void caller_at_retryAt_is_granted_with_a_median_delay_of_one_second(
      String perMinute, long capacity) {
    List<Duration> late = new ArrayList<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec(perMinute, capacity));
      simulated.pass(Duration.ofMillis(90_000 + simulated.random.nextInt(60_000)));
      simulated.drain();
      Instant drained = simulated.now();
      int denials = 0;
      int token = 1;
      while (token <= 24) {
        ClaimResult claim = simulated.claim();
        if (claim instanceof ClaimResult.Denied denied) {
          simulated.passUntil(denied.retryAt());
          denials++;
          assertThat(denials).as("seed %d, token %d", seed, token).isLessThanOrEqualTo(2);
        } else {
          late.add(Duration.between(drained.plus(interval(perMinute, token)), simulated.now()));
          denials = 0;
          token++;
        }
      }
    }
    late.sort(Comparator.naturalOrder());
    assertThat(late.get(late.size() / 2)).isLessThanOrEqualTo(Duration.ofSeconds(1));
    assertThat(late.get(late.size() - 1)).isLessThanOrEqualTo(Duration.ofSeconds(2));
  }

  // Throughput.

  private static long demand(SimulatedBucket simulated, Duration time) {
    Instant end = simulated.now().plus(time);
    long spent = 0;
    while (simulated.now().isBefore(end)) {
      spent += simulated.drain();
      simulated.pass(STEP);
    }
    return spent;
  }

  @Test
  void bucket_of_twenty_at_sixty_a_minute_delivers_its_full_rate_for_152_seconds() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec("60", 20));
      assertThat(demand(simulated, Duration.ofSeconds(152)))
          .as("seed %d", seed)
          .isBetween(165L, 172L);
    }
  }

  @ParameterizedTest
  @CsvSource({"12,12", "60,60", "7,7", "60,20", "180,180", "600,600", "60,300", "2.5,3"})
  void permanent_demand_gets_99_percent_of_the_rate_over_ten_minutes(
      String perMinute, long capacity) {
    for (long seed = 1; seed <= 10; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec(perMinute, capacity));
      simulated.pass(Duration.ofMillis(simulated.random.nextInt(180_000)));
      simulated.drain();
      double ideal = 10 * Double.parseDouble(perMinute);
      assertThat((double) demand(simulated, Duration.ofMinutes(10)))
          .as("seed %d", seed)
          .isGreaterThanOrEqualTo(Math.floor(0.99 * ideal))
          .isLessThanOrEqualTo(ideal + Double.parseDouble(perMinute));
    }
  }

  @ParameterizedTest
  @CsvSource({"60,60,1", "60,20,4", "60,10,7", "12,12,1", "0.2,5,1"})
  void drained_bucket_requests_a_fill_when_the_minted_tokens_run_out(
      String perMinute, long capacity, int mostPerMinute) {
    for (long seed = 1; seed <= 10; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec(perMinute, capacity));
      demand(simulated, Duration.ofMinutes(2));
      int before = simulated.requests;
      demand(simulated, Duration.ofMinutes(10));
      assertThat(simulated.requests - before)
          .as("seed %d", seed)
          .isLessThanOrEqualTo(10 * mostPerMinute);
    }
  }

  // Failing schedules.

  /** Fires sometimes late, sometimes twice, and sometimes not at all. */
  private static final class Unreliable extends SimulatedBucket {
    Unreliable(long seed, BucketSpec spec) {
      super(seed, spec);
    }

    @Override
    void minute(Instant due) {
      switch (super.random.nextInt(4)) {
        case 0 -> {}
        case 1 -> fireAt(due.plusMillis(super.random.nextInt(58_000)));
        case 2 -> {
          fireAt(due);
          fireAt(due.plusMillis(super.random.nextInt(20_000)));
        }
        default -> fireAt(due);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"12,12", "60,60", "60,20", "7,30", "2.5,3"})
  void missed_late_and_repeated_schedules_neither_lose_nor_add_tokens(
      String perMinute, long capacity) {
    for (long seed = 1; seed <= 10; seed++) {
      BucketSpec spec = spec(perMinute, capacity);
      SimulatedBucket simulated = new Unreliable(seed, spec);
      RateBound bound = new RateBound(spec, simulated.now());
      double rate = Double.parseDouble(perMinute);
      for (int phase = 0; phase < 20; phase++) {
        boolean isBusy = simulated.random.nextBoolean();
        Instant end = simulated.now().plusSeconds(60 + simulated.random.nextInt(240));
        long spent = 0;
        Instant start = simulated.now();
        while (simulated.now().isBefore(end)) {
          int tokens = simulated.drain();
          spent += tokens;
          assertThat(bound.allows(tokens, simulated.now())).as("seed %d: %s", seed, bound).isTrue();
          simulated.pass(isBusy ? STEP : Duration.ofMillis(simulated.random.nextInt(90_000)));
        }
        double minutes = Duration.between(start, simulated.now()).toMillis() / 60_000.0;
        if (isBusy) {
          assertThat((double) spent)
              .as("seed %d, phase %d", seed, phase)
              .isGreaterThanOrEqualTo(Math.floor(rate * minutes - rate / 30 - 1));
        }
      }
    }
  }

  // Retunes.

  @ParameterizedTest
  @ValueSource(longs = {6, 60, 600})
  void retune_neither_loses_nor_adds_more_than_a_minutes_tokens(long to) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      BucketSpec before = spec("60", 60);
      BucketSpec after = BucketSpec.ofRate(Rate.perMinute(to));
      SimulatedBucket simulated = new SimulatedBucket(seed, before);
      demand(simulated, Duration.ofMillis(60_000 + simulated.random.nextInt(120_000)));

      simulated.ports.retune(simulated.id, after);

      long larger = Math.max(60, to);
      assertThat(demand(simulated, Duration.ofMinutes(5)))
          .as("seed %d", seed)
          .isBetween(4 * to, 5 * to + larger);
    }
  }

  @Test
  void new_rate_applies_within_a_minute() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec("6", 6));
      demand(simulated, Duration.ofMillis(60_000 + simulated.random.nextInt(120_000)));
      simulated.ports.retune(simulated.id, spec("60", 60));
      demand(simulated, Duration.ofSeconds(60));
      assertThat(demand(simulated, Duration.ofSeconds(60)))
          .as("seed %d", seed)
          .isBetween(58L, 120L);
    }
  }

  @Test
  void bucket_that_shrinks_while_tokens_are_pending_delivers_its_new_rate() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec("60", 60));
      demand(simulated, Duration.ofMillis(60_000 + simulated.random.nextInt(120_000)));
      simulated.ports.retune(simulated.id, spec("6", 6));
      simulated.pass(Duration.ofMinutes(4));
      assertThat(simulated.drain()).as("seed %d", seed).isEqualTo(6);
      assertThat(demand(simulated, Duration.ofMinutes(5))).as("seed %d", seed).isBetween(29L, 36L);
    }
  }

  @Test
  void tokens_of_a_larger_tier_can_be_spent_once_until_the_next_fill() {
    for (long seed = 1; seed <= 10; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec("6000", 6_000));
      simulated.pass(Duration.ofMillis(60_000 + simulated.random.nextInt(120_000)));

      simulated.ports.retune(simulated.id, spec("60", 60));

      assertThat(simulated.drain()).as("seed %d", seed).isEqualTo(6_000);
      assertThat(demand(simulated, Duration.ofMinutes(5))).as("seed %d", seed).isLessThan(362);
    }
  }

  @Test
  void tokens_of_a_larger_tier_are_removed_by_the_next_fill() {
    for (long seed = 1; seed <= 10; seed++) {
      SimulatedBucket simulated = new SimulatedBucket(seed, spec("6000", 6_000));
      simulated.pass(Duration.ofMillis(60_000 + simulated.random.nextInt(120_000)));

      simulated.ports.retune(simulated.id, spec("60", 60));
      simulated.pass(Duration.ofMinutes(1));

      assertThat(simulated.drain()).as("seed %d", seed).isEqualTo(60);
      assertThat(demand(simulated, Duration.ofMinutes(5))).as("seed %d", seed).isLessThan(362);
    }
  }

  @Test
  void tokens_on_their_way_for_a_larger_tier_are_removed_by_the_second_fill() {
    for (long seed = 1; seed <= 10; seed++) {
      SimulatedBucket simulated = emptiedBeforeRetune(seed);
      simulated.pass(Duration.ofSeconds(121));

      assertThat(simulated.drain()).as("seed %d", seed).isEqualTo(60);
      assertThat(demand(simulated, Duration.ofMinutes(5))).as("seed %d", seed).isLessThan(362);
    }
  }

  @Test
  void tokens_on_their_way_for_a_larger_tier_can_be_spent_once() {
    for (long seed = 1; seed <= 10; seed++) {
      SimulatedBucket simulated = emptiedBeforeRetune(seed);
      long level = simulated.ports.queue().level(simulated.id);

      assertThat(level).isLessThanOrEqualTo(6_000);
      assertThat(demand(simulated, Duration.ofMinutes(5)))
          .as("seed %d", seed)
          .isBetween(4 * 60 + 1L, level + 5 * 60 + 60);
    }
  }

  /**
   * A bucket that a claim found empty, so that it was filled ahead, before its tier was lowered.
   */
  private static SimulatedBucket emptiedBeforeRetune(long seed) {
    SimulatedBucket simulated = new SimulatedBucket(seed, spec("6000", 6_000));
    simulated.pass(Duration.ofMillis(60_000 + simulated.random.nextInt(120_000)));
    simulated.drain();
    simulated.pass(Duration.ofSeconds(1));
    simulated.ports.retune(simulated.id, spec("60", 60));
    return simulated;
  }

  @Test
  void thousand_retunes_admit_no_more_than_the_larger_rate() {
    for (long seed = 1; seed <= 5; seed++) {
      BucketSpec slow = spec("60", 60);
      BucketSpec fast = spec("180", 180);
      SimulatedBucket simulated = new SimulatedBucket(seed, slow);
      RateBound bound = new RateBound(fast, simulated.now());
      long spent = 0;
      for (int flip = 0; flip < 1_000; flip++) {
        Instant end = simulated.now().plusMillis(simulated.random.nextInt(20_000));
        while (simulated.now().isBefore(end)) {
          int tokens = simulated.drain();
          spent += tokens;
          assertThat(bound.allows(tokens, simulated.now()))
              .as("seed %d, flip %d: %s", seed, flip, bound)
              .isTrue();
          simulated.pass(Duration.ofMillis(250));
        }
        simulated.ports.retune(simulated.id, flip % 2 == 0 ? fast : slow);
      }
      double minutes =
          Duration.between(AdmissionFixture.START, simulated.now()).toMillis() / 60_000.0;
      assertThat((double) spent).as("seed %d", seed).isGreaterThan(60 * minutes);
    }
  }

  // Hibernation.

  @ParameterizedTest
  @ValueSource(longs = {1, 14 * 24 * 60, 20 * 24 * 60})
  void burst_at_a_hibernating_bucket_gets_its_capacity_and_then_its_rate(long asleepMinutes) {
    for (long seed = 1; seed <= 10; seed++) {
      BucketSpec spec = spec("12", 24);
      SimulatedBucket simulated = new SimulatedBucket(seed, spec);
      simulated.pass(Duration.ofMinutes(20));
      assertThat(simulated.row().isHibernating()).isTrue();
      simulated.ports.clock().advance(Duration.ofMinutes(asleepMinutes));
      RateBound bound = new RateBound(spec, simulated.now());
      simulated.tasks.clear();
      simulated.next(simulated.now());

      int first = simulated.drain();
      assertThat(first).as("seed %d", seed).isEqualTo(24);
      assertThat(bound.allows(first, simulated.now())).isTrue();
      assertThat(demand(simulated, Duration.ofMinutes(5))).as("seed %d", seed).isBetween(58L, 60L);
    }
  }
}

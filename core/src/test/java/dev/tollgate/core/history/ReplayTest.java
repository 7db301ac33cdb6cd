package dev.tollgate.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Counts.Tokens;
import dev.tollgate.core.history.Replay.Refusals;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayTest {
  private static final Instant NOON = Instant.parse("2026-03-12T12:00:00Z");
  private static final long TOKEN = 1_000_000;

  private static Counts minute(long admitted, long refused, long peak) {
    return new Counts(admitted, Map.of(Refusal.TENANT_RATE, refused), peak, Map.of());
  }

  private static BucketSpec bucket(long microtokensPerMinute, long capacity) {
    return new BucketSpec(new Rate(microtokensPerMinute), capacity);
  }

  /** Minutes from noon on: the admitted connections of each, or a dash for a minute without any. */
  private static SortedMap<Instant, Counts> admitted(String counts) {
    SortedMap<Instant, Counts> minutes = new TreeMap<>();
    Instant at = NOON;
    for (String count : counts.split(" ", -1)) {
      if (!count.equals("-")) {
        minutes.put(at, minute(Long.parseLong(count), 0, Long.parseLong(count)));
      }
      at = at.plusSeconds(60);
    }
    return minutes;
  }

  @ParameterizedTest
  @CsvSource({
    // connections a minute | rate | capacity | least | most | minutes
    "5 5 5, 5, 5, 0, 5, 2",
    "5 5 5, 5, 10, 0, 0, 0",
    "10 0 0, 5, 5, 0, 5, 1",
    "11 0 0, 5, 5, 1, 6, 1",
    "15, 5, 10, 0, 5, 1",
    "15 - 15, 5, 10, 5, 15, 2",
    "15 15, 5, 10, 10, 20, 2",
    "15 - - - 15, 5, 10, 0, 10, 2",
    "6 6 6 6, 5, 10, 0, 4, 3",
    "0 0 0, 5, 5, 0, 0, 0",
  })
  void rate(String counts, long rate, long capacity, long least, long most, long refusing) {
    Refusals refusals = Replay.connections(admitted(counts), bucket(rate * TOKEN, capacity));

    assertThat(List.of(refusals.least(), refusals.most(), refusals.minutes()))
        .containsExactly(least, most, refusing);
  }

  @Test
  void refused_connections_count_at_most() {
    SortedMap<Instant, Counts> minutes = new TreeMap<>();
    minutes.put(NOON, minute(5, 20, 5));

    Refusals refusals = Replay.connections(minutes, bucket(5 * TOKEN, 10));

    assertThat(refusals.least()).isZero();
    assertThat(refusals.most()).isEqualTo(15);
  }

  @ParameterizedTest
  @CsvSource({"3 9 7 2, 7, 2, 16, 2", "3 9 8 2 9, 7, 2, 28, 4", "3 7, 7, 0, 0, 0"})
  void open_connections(String peaks, long limit, long least, long most, long refusing) {
    Refusals refusals = Replay.open(admitted(peaks), limit);

    assertThat(List.of(refusals.least(), refusals.most(), refusals.minutes()))
        .containsExactly(least, most, refusing);
  }

  @Test
  void connections_that_were_open_before_are_not_refused_for_certain() {
    SortedMap<Instant, Counts> minutes = new TreeMap<>();
    minutes.put(NOON, minute(1, 0, 95));
    minutes.put(NOON.plusSeconds(60), minute(1, 0, 96));

    Refusals refusals = Replay.open(minutes, 50);

    assertThat(refusals.least()).isEqualTo(1);
    assertThat(refusals.most()).isEqualTo(2);
  }

  @Test
  void a_first_minute_with_fills_only_does_not_tell_how_many_were_open() {
    SortedMap<Instant, Counts> minutes = new TreeMap<>();
    minutes.put(NOON, new Counts(0, Map.of(), 0, Map.of(Action.CONNECT, new Counts.Tokens(3, 3))));
    // The first one of 45 was refused. Then the 95 of before closed, and 44 came again.
    minutes.put(NOON.plusSeconds(60), minute(45, 0, 96));

    assertThat(Replay.open(minutes, 50).least()).isZero();
  }

  @Test
  void refusals_that_were_written_after_connections_closed_count_at_most() {
    SortedMap<Instant, Counts> minutes = new TreeMap<>();
    minutes.put(NOON, minute(50, 0, 100));
    minutes.put(NOON.plusSeconds(60), minute(5, 40, 10));
    minutes.put(NOON.plusSeconds(120), minute(5, 0, 10));

    assertThat(Replay.open(minutes, 60).most()).isEqualTo(95);
    assertThat(Replay.open(minutes, 100).most()).isEqualTo(40);
  }

  /** All orders of short histories, six instants a minute: the bounds hold, and are attained. */
  @Test
  void bounds_of_rates_are_attained() {
    long attainedAtMost = 0;
    long cases = 0;
    for (long halves = 1; halves <= 6; halves++) {
      for (long capacity = 1; capacity <= 4; capacity++) {
        for (int code = 0; code < 5 * 5 * 5; code++) {
          int[] counts = {code % 5, code / 5 % 5, code / 25};
          SortedMap<Instant, Counts> minutes = new TreeMap<>();
          for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
              minutes.put(NOON.plusSeconds(60L * i), minute(counts[i], 0, 0));
            }
          }
          long[] truth = extremes(counts, halves, capacity);

          Refusals refusals = Replay.connections(minutes, bucket(halves * TOKEN / 2, capacity));

          assertThat(refusals.least())
              .as("%s, rate %d/2, capacity %d", Arrays.toString(counts), halves, capacity)
              .isLessThanOrEqualTo(truth[0]);
          assertThat(refusals.most())
              .as("%s, rate %d/2, capacity %d", Arrays.toString(counts), halves, capacity)
              .isGreaterThanOrEqualTo(truth[1]);
          attainedAtMost += refusals.most() == truth[1] ? 1 : 0;
          cases++;
        }
      }
    }
    assertThat(attainedAtMost).isEqualTo(cases);
  }

  /** The fewest and the most refusals of all orders. Twelve units are a token. */
  private static long[] extremes(int[] counts, long halves, long capacity) {
    Map<Long, long[]> states = new HashMap<>(Map.of(12 * capacity, new long[] {0, 0}));
    for (int count : counts) {
      Map<List<Long>, long[]> within = new HashMap<>();
      states.forEach((tokens, refused) -> within.put(List.of(tokens, (long) count), refused));
      // The beginning, five instants between, and the end, which shares the next beginning.
      for (int instant = 0; instant <= 6; instant++) {
        Map<List<Long>, long[]> next = new HashMap<>();
        boolean isLast = instant == 6;
        within.forEach(
            (state, refused) -> {
              long rest = state.get(1);
              for (long now = isLast ? rest : 0; now <= rest; now++) {
                long served = Math.min(now, state.get(0) / 12);
                long tokens =
                    Math.min(12 * capacity, state.get(0) - 12 * served + (isLast ? 0 : halves));
                long more = now - served;
                next.merge(
                    List.of(tokens, rest - now),
                    new long[] {refused[0] + more, refused[1] + more},
                    (one, other) ->
                        new long[] {Math.min(one[0], other[0]), Math.max(one[1], other[1])});
              }
            });
        within.clear();
        within.putAll(next);
      }
      states = new HashMap<>();
      for (Map.Entry<List<Long>, long[]> state : within.entrySet()) {
        states.put(state.getKey().get(0), state.getValue());
      }
    }
    long least = states.values().stream().mapToLong(each -> each[0]).min().orElseThrow();
    return new long[] {least, states.values().stream().mapToLong(each -> each[1]).max().orElse(0)};
  }

  @Test
  void a_connection_that_was_undone_a_minute_later_is_not_counted() {
    SortedMap<Instant, Counts> minutes = admitted("7 5");
    minutes.put(NOON.plusSeconds(60), minute(-3, 0, 9));

    assertThat(Replay.connections(minutes, bucket(TOKEN, 3)).most()).isEqualTo(1);
    assertThat(Replay.open(minutes, 5).most()).isEqualTo(4);
  }

  @Test
  void messages_are_the_tokens_that_left_their_bucket() {
    SortedMap<Instant, Counts> minutes = admitted("900 -");
    Counts messages =
        new Counts(
            0,
            Map.of(),
            0,
            Map.of(
                Action.CONNECT, new Counts.Tokens(0, 900),
                Action.MESSAGE, new Counts.Tokens(0, 30)));
    minutes.put(NOON.plusSeconds(60), messages);

    Refusals refusals = Replay.messages(minutes, bucket(10 * TOKEN, 10));

    assertThat(List.of(refusals.least(), refusals.most(), refusals.minutes()))
        .containsExactly(0L, 20L, 1L);
    assertThat(refusals.first()).contains(NOON.plusSeconds(60));
  }

  @Test
  void when_and_for_how_long() {
    Refusals refusals = Replay.open(admitted("1 9 9 9 1 9"), 8);

    assertThat(refusals.first()).contains(NOON.plusSeconds(60));
    assertThat(refusals.last()).contains(NOON.plusSeconds(300));
    assertThat(refusals.longest()).isEqualTo(Duration.ofMinutes(5));
    Refusals none = Replay.open(admitted("1"), 8);
    assertThat(none)
        .isEqualTo(new Refusals(0, 0, 0, Optional.empty(), Optional.empty(), Duration.ZERO));
  }

  /**
   * The truth: a bucket that is filled continuously, asked at each connection's own time. It lies
   * between the bounds in every history; how far off they are is printed.
   */
  @Test
  void bounds_hold_for_the_change_that_is_really_made() {
    long leastOff = 0;
    long mostOff = 0;
    long refusedInAll = 0;
    long attempts = 0;
    for (long seed = 1; seed <= 500; seed++) {
      Random random = new Random(seed);
      long rate = 1 + random.nextInt(20);
      long capacity = rate * (1 + random.nextInt(3)) + random.nextInt(5);
      List<Long> arrivals = arrivals(random, rate);
      SortedMap<Instant, Counts> minutes = new TreeMap<>();
      for (long millis : arrivals) {
        minutes.merge(NOON.plusSeconds(millis / 60_000 * 60), minute(1, 0, 0), Counts::plus);
      }
      long truth = refusedBy(arrivals, rate, capacity);

      Refusals refusals = Replay.connections(minutes, bucket(rate * TOKEN, capacity));

      assertThat(truth)
          .as("seed %d, rate %d, capacity %d", seed, rate, capacity)
          .isBetween(refusals.least(), refusals.most());
      leastOff += truth - refusals.least();
      mostOff += refusals.most() - truth;
      refusedInAll += truth;
      attempts += arrivals.size();
    }
    System.out.printf(
        "500 seeds, %,d connections, %,d refused: at least %,d, at most %,d%n",
        attempts, refusedInAll, refusedInAll - leastOff, refusedInAll + mostOff);
    assertThat(refusedInAll).isPositive();
  }

  /** Connections of an hour, in milliseconds: calm, bursts, and more than the rate for a while. */
  private static List<Long> arrivals(Random random, long rate) {
    List<Long> arrivals = new ArrayList<>();
    long millis = 0;
    while (millis < 3_600_000) {
      long burst = random.nextInt(8) == 0 ? rate * 2 : 1;
      for (long i = 0; i < burst; i++) {
        arrivals.add(millis);
      }
      millis += (long) (60_000 / rate * (0.3 + 1.7 * random.nextDouble()) * burst) + 1;
    }
    return arrivals;
  }

  private static long refusedBy(List<Long> arrivals, long rate, long capacity) {
    // In units of which 60,000 are a token: a millisecond adds as many as the rate.
    long tokens = capacity * 60_000;
    long before = 0;
    long refused = 0;
    for (long now : arrivals) {
      tokens = Math.min(capacity * 60_000, tokens + (now - before) * rate);
      before = now;
      if (tokens >= 60_000) {
        tokens -= 60_000;
      } else {
        refused++;
      }
    }
    return refused;
  }

  /** One message a second at 60 a minute is never refused, whenever the fills count them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 10, 30, 60})
  void messages_that_come_evenly_may_all_have_been_admitted(long capacity) {
    for (int jitter : new int[] {0, 5, 20, 60}) {
      Random random = new Random(capacity * 100 + jitter);
      SortedMap<Instant, Counts> minutes = new TreeMap<>();
      long before = 0;
      for (int minute = 1; minute < 1_441; minute++) {
        long fill = minute * 60L + (60 - jitter) / 2 + (jitter == 0 ? 0 : random.nextInt(jitter));
        long taken = fill - before;
        before = fill;
        minutes.put(
            NOON.plusSeconds(fill / 60 * 60),
            new Counts(0, Map.of(), 0, Map.of(Action.MESSAGE, new Tokens(taken, taken))));
      }
      assertThat(Replay.messages(minutes, new BucketSpec(Rate.perMinute(60), capacity)).least())
          .as("capacity %d, fills within %d s", capacity, jitter)
          .isZero();
    }
  }
}

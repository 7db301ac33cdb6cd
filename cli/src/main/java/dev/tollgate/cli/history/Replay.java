package dev.tollgate.cli.history;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How many connections other limits would have refused, from recorded minutes.
 *
 * <h2>What a minute can tell</h2>
 *
 * A minute has numbers and no order, so the answer is two bounds. It takes a connection that was
 * refused for a client that may have come back and been admitted: the lower bound counts admitted
 * connections only, the upper bound all. Both take the bucket for full at the first recorded
 * minute.
 *
 * <p><b>Rate, at least.</b> The most is admitted if the connections of each minute come as tokens
 * do. Then minute <i>t</i> admits {@code min(a, s + r)} of {@code a}, where {@code s} tokens are
 * left from before and {@code r} come in a minute, and no more than the capacity are left.
 *
 * <p><b>Rate, at most.</b> Most are refused if the connections of each minute come all at once, at
 * its beginning or at its end: at its beginning only the tokens left from before serve them, and at
 * its end they leave none for the next minute. Each minute is computed in both ways. A state is
 * what the bucket lacks, and how many were refused. It is dropped if another state leads to as many
 * refusals in every case. An exhaustive test of short histories shows that the bound is attained.
 *
 * <p><b>Open connections.</b> Under a lower limit fewer connections are open. So a minute with a
 * peak up to that limit refuses none of the admitted connections. A peak is noted when a connection
 * is admitted or refused, or up to five seconds later. Therefore the peak of the minute before
 * counts, too. For the lower bound, the connections of the first peak may have been open before.
 */
final class Replay {
  private static final long MICROTOKENS = 1_000_000;

  private Replay() {}

  /**
   * A recorded minute.
   *
   * @param refused connections refused for any reason
   * @param peak the most open connections
   */
  record Minute(long admitted, long refused, long peak) {}

  /**
   * What would have been refused.
   *
   * @param least at least so many connections
   * @param most at most so many
   * @param minutes in so many minutes at most
   * @param first the first of these minutes
   * @param last the last of them
   * @param longest the longest time without a break between them
   */
  record Refusals(
      long least,
      long most,
      long minutes,
      Optional<Instant> first,
      Optional<Instant> last,
      Duration longest) {
    /** Whether none would have been refused. */
    boolean isNone() {
      return most == 0;
    }
  }

  /**
   * What a bucket would have refused.
   *
   * @param microtokensPerMinute the rate, in millionths of a token
   */
  static Refusals byRate(
      SortedMap<Instant, Minute> minutes, long microtokensPerMinute, long capacity) {
    Tally tally = new Tally();
    long full = capacity * MICROTOKENS;
    long left = full;
    long mostLack = 0;
    // What the bucket may lack by the beginning of a minute, and the most refusals until then.
    SortedMap<Long, Long> refusedByLack = new TreeMap<>(Map.of(0L, 0L));
    Instant before = Instant.MIN;
    for (Map.Entry<Instant, Minute> each : minutes.entrySet()) {
      Instant now = each.getKey();
      long passed = before.equals(Instant.MIN) ? 0 : Duration.between(before, now).toMinutes();
      // Minutes without a record had no connections.
      long idle = Math.max(0, passed - 1) * microtokensPerMinute;
      long certain = Math.max(0, each.getValue().admitted());
      long all = certain + each.getValue().refused();

      left = Math.min(full, left + idle);
      long admitted = Math.min(certain, (left + microtokensPerMinute) / MICROTOKENS);
      left = Math.min(full, left + microtokensPerMinute - admitted * MICROTOKENS);
      tally.least += certain - admitted;

      SortedMap<Long, Long> next = new TreeMap<>();
      for (Map.Entry<Long, Long> state : refusedByLack.entrySet()) {
        long lack = Math.max(0, state.getKey() - idle);
        long early = refused(lack, all, full);
        next.merge(
            Math.max(0, lack + (all - early) * MICROTOKENS - microtokensPerMinute),
            state.getValue() + early,
            Math::max);
        long rested = Math.max(0, lack - microtokensPerMinute);
        long late = refused(rested, all, full);
        next.merge(rested + (all - late) * MICROTOKENS, state.getValue() + late, Math::max);
      }
      refusedByLack = worst(next);

      // Whether this minute may refuse any: if those of the minute before came at its end.
      mostLack = Math.max(0, mostLack - idle);
      tally.at(now, refused(mostLack, all, full));
      mostLack = Math.min(full, Math.max(0, mostLack - microtokensPerMinute) + all * MICROTOKENS);
      before = now;
    }
    tally.most = refusedByLack.values().stream().mapToLong(Long::longValue).max().orElse(0);
    return tally.refusals();
  }

  /** How many of some connections at once a bucket refuses that lacks so many microtokens. */
  private static long refused(long lack, long connections, long full) {
    long excess = lack + connections * MICROTOKENS - full;
    return Math.max(0, -Math.floorDiv(-excess, MICROTOKENS));
  }

  /** The states that no other makes superfluous. */
  private static SortedMap<Long, Long> worst(SortedMap<Long, Long> refusedByLack) {
    SortedMap<Long, Long> kept = new TreeMap<>();
    refusedByLack.forEach(
        (lack, refused) -> {
          boolean isSuperfluous =
              refusedByLack.entrySet().stream()
                  .filter(other -> !other.getKey().equals(lack))
                  .anyMatch(
                      other ->
                          other.getKey() > lack
                              ? other.getValue() >= refused
                              : (other.getValue() - refused) * MICROTOKENS
                                  >= lack - other.getKey());
          if (!isSuperfluous) {
            kept.put(lack, refused);
          }
        });
    return kept;
  }

  /** What a limit of open connections would have refused. */
  static Refusals byConnections(SortedMap<Instant, Minute> minutes, long limit) {
    Tally tally = new Tally();
    long highest = minutes.values().stream().mapToLong(Minute::peak).max().orElse(0);
    long atFirst = minutes.values().stream().findFirst().map(Minute::peak).orElse(0L);
    tally.least = Math.max(0, highest - Math.max(limit, atFirst));
    minutes.forEach(
        (at, minute) -> {
          Minute before = minutes.getOrDefault(at.minusSeconds(60), minute);
          boolean isAbove = Math.max(minute.peak(), before.peak()) > limit;
          tally.at(at, minute.refused() + (isAbove ? Math.max(0, minute.admitted()) : 0));
        });
    return tally.refusals();
  }

  private static final class Tally {
    private final List<Instant> refusing = new ArrayList<>();
    private long least;
    private long most;

    void at(Instant minute, long atMost) {
      most += atMost;
      if (atMost > 0) {
        refusing.add(minute);
      }
    }

    Refusals refusals() {
      long run = 0;
      long longest = 0;
      Instant next = Instant.MIN;
      for (Instant minute : refusing) {
        run = minute.equals(next) ? run + 1 : 1;
        longest = Math.max(longest, run);
        next = minute.plusSeconds(60);
      }
      return new Refusals(
          Math.min(least, most),
          most,
          refusing.size(),
          refusing.stream().findFirst(),
          refusing.isEmpty() ? Optional.empty() : Optional.of(refusing.get(refusing.size() - 1)),
          Duration.ofMinutes(longest));
    }
  }
}

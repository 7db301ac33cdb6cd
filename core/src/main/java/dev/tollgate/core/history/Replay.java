package dev.tollgate.core.history;

import dev.tollgate.core.Action;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.history.Counts.Tokens;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How many connections or messages other limits would have refused, from recorded minutes.
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
public final class Replay {
  private static final long MICROTOKENS = 1_000_000;

  private Replay() {}

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
  public record Refusals(
      long least,
      long most,
      long minutes,
      Optional<Instant> first,
      Optional<Instant> last,
      Duration longest) {
    /** Whether none would have been refused. */
    public boolean isNone() {
      return most == 0;
    }
  }

  /** The connections that a bucket {@code connect} would have refused. */
  public static Refusals connections(SortedMap<Instant, Counts> minutes, BucketSpec bucket) {
    return byRate(settled(minutes), bucket, 0);
  }

  /**
   * The messages that a bucket {@code message} would have refused. Each token that left the bucket
   * counts as a message. It is recorded by the next fill, at any second of a minute, so the
   * messages of <i>k</i> minutes may have come in almost <i>k</i> + 1: at least refuses as if the
   * bucket held a minute's tokens more.
   */
  public static Refusals messages(SortedMap<Instant, Counts> minutes, BucketSpec bucket) {
    SortedMap<Instant, Counts> taken = new TreeMap<>();
    minutes.forEach(
        (at, counts) -> {
          Tokens tokens = counts.tokens().getOrDefault(Action.MESSAGE, new Tokens(0, 0));
          taken.put(at, new Counts(tokens.taken(), Map.of(), 0, Map.of()));
        });
    return byRate(taken, bucket, bucket.rate().microtokensPerMinute());
  }

  /** The minutes where a connection that was undone in the next minute counts in none. */
  private static SortedMap<Instant, Counts> settled(SortedMap<Instant, Counts> minutes) {
    SortedMap<Instant, Counts> settled = new TreeMap<>();
    List<Map.Entry<Instant, Counts>> all = List.copyOf(minutes.entrySet());
    long undone = 0;
    for (int i = all.size() - 1; i >= 0; i--) {
      Counts counts = all.get(i).getValue();
      long admitted = counts.admitted() - undone;
      undone = Math.max(0, -admitted);
      settled.put(
          all.get(i).getKey(),
          new Counts(Math.max(0, admitted), counts.refused(), counts.peak(), Map.of()));
    }
    return settled;
  }

  /**
   * @param slack microtokens that the bucket may hold beyond its capacity, for at least
   */
  private static Refusals byRate(
      SortedMap<Instant, Counts> minutes, BucketSpec bucket, long slack) {
    long microtokensPerMinute = bucket.rate().microtokensPerMinute();
    Tally tally = new Tally();
    long full = bucket.capacity() * MICROTOKENS;
    long mostLeft = full + slack;
    long left = mostLeft;
    long mostLack = 0;
    // What the bucket may lack by the beginning of a minute, and the most refusals until then.
    SortedMap<Long, Long> refusedByLack = new TreeMap<>(Map.of(0L, 0L));
    Instant before = Instant.MIN;
    for (Map.Entry<Instant, Counts> each : minutes.entrySet()) {
      Instant now = each.getKey();
      long passed = before.equals(Instant.MIN) ? 0 : Duration.between(before, now).toMinutes();
      // Minutes without a record had no connections.
      long idle = Math.max(0, passed - 1) * microtokensPerMinute;
      long certain = Math.max(0, each.getValue().admitted());
      long all = certain + each.getValue().refusedInAll();

      left = Math.min(mostLeft, left + idle);
      long admitted = Math.min(certain, (left + microtokensPerMinute) / MICROTOKENS);
      left = Math.min(mostLeft, left + microtokensPerMinute - admitted * MICROTOKENS);
      tally.least += certain - admitted;

      NavigableMap<Long, Long> next = new TreeMap<>();
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

  /**
   * The states that no other makes superfluous. A state does if it lacks more and refused as many,
   * or if it refused more by at least the tokens that it lacks less.
   */
  private static SortedMap<Long, Long> worst(NavigableMap<Long, Long> refusedByLack) {
    SortedMap<Long, Long> kept = new TreeMap<>();
    long mostRefused = -1;
    for (Map.Entry<Long, Long> state : refusedByLack.descendingMap().entrySet()) {
      if (state.getValue() > mostRefused) {
        kept.put(state.getKey(), state.getValue());
        mostRefused = state.getValue();
      }
    }
    long[] mostUsed = {-1};
    kept.entrySet()
        .removeIf(
            state -> {
              long used = state.getValue() * MICROTOKENS + state.getKey();
              boolean isSuperfluous = used <= mostUsed[0];
              mostUsed[0] = Math.max(mostUsed[0], used);
              return isSuperfluous;
            });
    return kept;
  }

  /** The connections that a limit of open connections would have refused. */
  public static Refusals open(SortedMap<Instant, Counts> recorded, long limit) {
    SortedMap<Instant, Counts> minutes = settled(recorded);
    Tally tally = new Tally();
    long highest = minutes.values().stream().mapToLong(Counts::peak).max().orElse(0);
    // A minute with fills or late refusals only has no peak: how many were open then is not known.
    long atFirst =
        minutes.values().stream()
            .mapToLong(Counts::peak)
            .filter(peak -> peak > 0)
            .findFirst()
            .orElse(0);
    tally.least = Math.max(0, highest - Math.max(limit, atFirst));
    minutes.forEach(
        (at, minute) -> {
          Counts before = minutes.getOrDefault(at.minusSeconds(60), minute);
          boolean isAbove = Math.max(minute.peak(), before.peak()) > limit;
          tally.at(at, minute.refusedInAll() + (isAbove ? minute.admitted() : 0));
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

package dev.tollgate.cli.history;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

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
 * <p><b>Rate, at most.</b> The least is admitted if those of a minute come all at once, at its
 * beginning: then only the tokens of that moment serve them. The bucket lacks most tokens then if
 * those of the minute before came all at its end. It lacks {@code d(t) = min(capacity, max(0, d(t −
 * 1) − r) + a(t))} tokens at most at the end of minute <i>t</i>, so minute <i>t</i> refuses {@code
 * max(0, d(t − 1) + a(t) − capacity)} at most.
 *
 * <p><b>Open connections.</b> Fewer connections are open under a lower limit. So only minutes whose
 * peak was above it refuse any, at most all of theirs. Over the whole time at least as many are
 * refused as the highest peak was above the limit.
 */
final class Replay {
  private static final long MICROTOKENS = 1_000_000;

  private Replay() {}

  /**
   * A recorded minute.
   *
   * @param refused connections refused for the limit in question
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
    long left = capacity * MICROTOKENS;
    long lacking = 0;
    Instant before = Instant.MIN;
    for (Map.Entry<Instant, Minute> each : minutes.entrySet()) {
      Instant now = each.getKey();
      long passed = before.equals(Instant.MIN) ? 0 : Duration.between(before, now).toMinutes();
      // Minutes without a record had no connections.
      long idle = Math.max(0, passed - 1);
      left = Math.min(capacity * MICROTOKENS, left + idle * microtokensPerMinute);
      lacking = Math.max(0, lacking - idle * microtokensPerMinute);

      long certain = Math.max(0, each.getValue().admitted());
      long admitted = Math.min(certain, (left + microtokensPerMinute) / MICROTOKENS);
      left = Math.min(capacity * MICROTOKENS, left + microtokensPerMinute - admitted * MICROTOKENS);
      tally.least += certain - admitted;

      long all = certain + each.getValue().refused();
      long excess = lacking + all * MICROTOKENS - capacity * MICROTOKENS;
      tally.at(now, Math.max(0, -Math.floorDiv(-excess, MICROTOKENS)));
      lacking =
          Math.min(
              capacity * MICROTOKENS,
              Math.max(0, lacking - microtokensPerMinute) + all * MICROTOKENS);
      before = now;
    }
    return tally.refusals();
  }

  /** What a limit of open connections would have refused. */
  static Refusals byConnections(SortedMap<Instant, Minute> minutes, long limit) {
    Tally tally = new Tally();
    minutes.forEach(
        (at, minute) -> {
          long above = minute.peak() - limit;
          tally.least = Math.max(tally.least, above);
          tally.at(at, above > 0 ? Math.max(0, minute.admitted()) + minute.refused() : 0);
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

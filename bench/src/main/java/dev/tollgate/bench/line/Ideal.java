package dev.tollgate.bench.line;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A bucket without delays, whose clients are admitted in the order of arrival: the best that any
 * bucket of this capacity and rate can do.
 *
 * @param capacity the tokens at the start, 0 or more
 * @param perMinute the rate at the start, 1 or more
 * @param change a change of the rate
 */
record Ideal(int capacity, int perMinute, Optional<RateChange> change) {
  /**
   * A change of a rate.
   *
   * @param at when it happens, since the start
   * @param perMinute the new rate, 1 or more
   */
  record RateChange(Duration at, int perMinute) {}

  /** When each client is admitted, for clients that arrive at these times, in this order. */
  List<Duration> admissions(List<Duration> arrivals) {
    List<Duration> admissions = new ArrayList<>();
    for (Duration arrival : arrivals) {
      Duration token = appears(admissions.size() + 1 - capacity);
      admissions.add(token.compareTo(arrival) > 0 ? token : arrival);
    }
    return admissions;
  }

  /** The number of tokens that appear in a span of time. */
  double minted(Duration from, Duration to) {
    return mintedBy(to) - mintedBy(from);
  }

  private double mintedBy(Duration time) {
    double before =
        change.map(RateChange::at).filter(at -> at.compareTo(time) < 0).orElse(time).toMillis()
            * perMinute
            / 60_000.0;
    return before
        + change
            .filter(next -> next.at().compareTo(time) < 0)
            .map(next -> time.minus(next.at()).toMillis() * next.perMinute() / 60_000.0)
            .orElse(0.0);
  }

  /** When token {@code number}, counted from 1, appears after the start. */
  private Duration appears(long number) {
    if (number <= 0) {
      return Duration.ZERO;
    }
    Duration unchanged = Duration.ofMillis(number * 60_000 / perMinute);
    return change
        .filter(next -> next.at().compareTo(unchanged) < 0)
        .map(
            next -> {
              double rest = number - mintedBy(next.at());
              return next.at().plusMillis(Math.round(rest * 60_000 / next.perMinute()));
            })
        .orElse(unchanged);
  }
}

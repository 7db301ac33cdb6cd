package dev.tollgate.bench;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Measured durations, sorted. */
public record Times(List<Duration> sorted) {
  /** Sorts the durations. */
  public Times {
    sorted = sorted.stream().sorted().toList();
  }

  /** The given durations, sorted. */
  public static Times of(Collection<Duration> durations) {
    return new Times(List.copyOf(durations));
  }

  /**
   * The smallest duration that at least a share of all durations do not exceed (nearest rank).
   *
   * @param share above 0, up to 1; 0.5 is the median
   * @throws IllegalArgumentException if the share is out of its range
   * @throws IllegalStateException if there are no durations
   */
  public Duration quantile(double share) {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException("share: " + share + " (expected: above 0, up to 1)");
    }
    if (sorted.isEmpty()) {
      throw new IllegalStateException("durations: none (expected: at least one)");
    }
    return sorted.get((int) Math.ceil(share * sorted.size()) - 1);
  }

  /** Minimum, median and maximum for a person, such as {@code 4.9 to 6.8 s, median 5.3 s}. */
  public String summary() {
    return sorted.isEmpty()
        ? "none"
        : "%s to %s s, median %s s"
            .formatted(
                seconds(sorted.get(0)),
                seconds(sorted.get(sorted.size() - 1)),
                seconds(quantile(0.5)));
  }

  /** Median and longest for a person, such as {@code 12, 40 ms}. */
  public String medianAndLongest() {
    return sorted.isEmpty()
        ? "none"
        : "%d, %d ms".formatted(quantile(0.5).toMillis(), quantile(1).toMillis());
  }

  /** Seconds with one decimal. */
  public static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.1f", duration.toMillis() / 1000.0);
  }
}

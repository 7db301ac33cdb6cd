package dev.tollgate.local.faults;

import java.time.Duration;
import java.util.List;

/**
 * The distribution of the times that a service takes to answer, given at rising quantiles and
 * linear between them.
 */
public record Latency(List<Point> points) {
  /**
   * {@code SendMessage} as measured under millions of calls a day: 6 ms on a warm connection, 40 ms
   * at p90, 95 ms at p97, seconds at the end (Hunter Fernandes, "SQS's Slow Tail Latency").
   */
  public static final Latency TAIL =
      new Latency(
          List.of(
              new Point(0, 2),
              new Point(0.5, 6),
              new Point(0.9, 40),
              new Point(0.97, 95),
              new Point(0.999, 1_000),
              new Point(1, 5_000)));

  /** The milliseconds that a share of the requests does not exceed. */
  public record Point(double quantile, double millis) {
    /** Validates the quantile and the time. */
    public Point {
      if (!(quantile >= 0 && quantile <= 1)) {
        throw new IllegalArgumentException("quantile: " + quantile + " (expected: 0 to 1)");
      }
      if (!(millis >= 0 && millis <= 60_000)) {
        throw new IllegalArgumentException("milliseconds: " + millis + " (expected: 0 to 60,000)");
      }
    }
  }

  /** Validates that the points rise. */
  public Latency {
    points = List.copyOf(points);
    if (points.isEmpty()) {
      throw new IllegalArgumentException("latency: [] (expected: [quantile, milliseconds] pairs)");
    }
    for (int i = 1; i < points.size(); i++) {
      if (points.get(i).quantile() <= points.get(i - 1).quantile()
          || points.get(i).millis() < points.get(i - 1).millis()) {
        throw new IllegalArgumentException(
            "latency: %s after %s (expected: rising quantiles and times)"
                .formatted(points.get(i), points.get(i - 1)));
      }
    }
  }

  /** The time at a quantile, 0 to 1. */
  public Duration at(double quantile) {
    Point before = new Point(0, 0);
    for (Point point : points) {
      if (quantile <= point.quantile()) {
        double width = point.quantile() - before.quantile();
        double part = width == 0 ? 1 : (quantile - before.quantile()) / width;
        return millis(before.millis() + part * (point.millis() - before.millis()));
      }
      before = point;
    }
    return millis(before.millis());
  }

  private static Duration millis(double millis) {
    return Duration.ofNanos(Math.round(millis * 1_000_000));
  }
}

package dev.tollgate.bench.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** How long each request is delayed. */
enum Delay {
  /** 5 ms, always. */
  FIXED("5 ms", "each-5-ms"),

  /**
   * {@code SendMessage} of SQS as measured under millions of calls a day: 6 ms on a warm
   * connection, 40 ms at p90, 95 ms at p97, a second or more at the far end (Hunter Fernandes,
   * "SQS's Slow Tail Latency"). Between these points it is linear.
   */
  TAIL("SQS's tail", "sqs-tail");

  /**
   * The delays of a measurement are blocks of this many, each with the same delays in another
   * order. So contenders that send few requests have the same distribution as all others, and the
   * slowest delay is the one that 399 in 400 requests do not exceed.
   */
  static final int BLOCK = 200;

  private static final double NANOS_PER_MILLI = 1e6;

  private record Point(double quantile, double millis) {}

  private final String label;
  private final String plan;

  Delay(String label, String plan) {
    this.label = label;
    this.plan = plan;
  }

  private List<Point> points() {
    return switch (this) {
      case FIXED -> List.of(new Point(0, 5), new Point(1, 5));
      case TAIL ->
          List.of(
              new Point(0, 2),
              new Point(0.5, 6),
              new Point(0.9, 40),
              new Point(0.97, 95),
              new Point(0.999, 1_000),
              new Point(1, 5_000));
    };
  }

  /** The name, for tables. */
  String label() {
    return label;
  }

  /** The plan of faults in {@code bench/plans} that delays the requests of functions as long. */
  String plan() {
    return plan;
  }

  /**
   * The delay with a label.
   *
   * @throws IllegalArgumentException if there is none
   */
  static Delay of(String label) {
    return Arrays.stream(values())
        .filter(delay -> delay.label.equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "delay: %s (expected: %s)"
                        .formatted(
                            label,
                            Arrays.stream(values())
                                .map(Delay::label)
                                .collect(Collectors.joining(", ")))));
  }

  /** The milliseconds that a share of the requests does not exceed. */
  double millisAt(double quantile) {
    Point before = points().get(0);
    for (Point point : points()) {
      if (quantile <= point.quantile) {
        double width = point.quantile - before.quantile;
        double part = width == 0 ? 1 : (quantile - before.quantile) / width;
        return before.millis + part * (point.millis - before.millis);
      }
      before = point;
    }
    throw new IllegalArgumentException(
        String.format(Locale.ROOT, "quantile: %s (expected: 0 to 1)", quantile));
  }

  /**
   * The delays of successive requests in nanoseconds. Thread-safe; a seed gives the same delays.
   */
  LongSupplier nanos(long seed) {
    List<Long> delays = new ArrayList<>();
    Random random = new Random(seed);
    // As many blocks as make no pattern of the repetition.
    for (int block = 0; block < 16; block++) {
      List<Long> values = new ArrayList<>();
      for (int i = 0; i < BLOCK; i++) {
        values.add((long) (millisAt((i + 0.5) / BLOCK) * NANOS_PER_MILLI));
      }
      Collections.shuffle(values, random);
      delays.addAll(values);
    }
    AtomicInteger next = new AtomicInteger();
    return () -> delays.get(Math.floorMod(next.getAndIncrement(), delays.size()));
  }
}

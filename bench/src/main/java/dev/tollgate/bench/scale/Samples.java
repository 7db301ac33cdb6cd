package dev.tollgate.bench.scale;

import java.util.Arrays;

/** Durations in microseconds, and their percentiles. */
final class Samples {
  private long[] values = new long[1_024];
  private int size;

  void add(long micros) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = micros;
  }

  int size() {
    return size;
  }

  /** How many durations are not longer than {@code micros}. */
  long until(long micros) {
    return Arrays.stream(values, 0, size).filter(value -> value <= micros).count();
  }

  /** The smallest duration that this percentage does not exceed; 0 without durations. */
  long percentile(double percent) {
    if (size == 0) {
      return 0;
    }
    long[] sorted = Arrays.copyOf(values, size);
    Arrays.sort(sorted);
    return sorted[(int) Math.min(size - 1L, Math.max(0, Math.ceil(size * percent / 100) - 1))];
  }

  long max() {
    return percentile(100);
  }
}

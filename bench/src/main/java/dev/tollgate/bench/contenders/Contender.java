package dev.tollgate.bench.contenders;

import java.util.List;

/** A limiter to compare, with the environment in which it runs. */
public interface Contender extends AutoCloseable {
  /** What the buckets of a measurement are for. */
  enum Purpose {
    /** A bucket with more tokens than the measurement takes. */
    PLENTY(10_000_000, 60),
    /** A bucket whose tokens are spent before the measurement. */
    EMPTY(10, 0.01),
    /** A full bucket that callers drain. */
    DRAINED(60, 60);

    private final long capacity;
    private final double perMinute;

    Purpose(long capacity, double perMinute) {
      this.capacity = capacity;
      this.perMinute = perMinute;
    }

    /** The bucket's size and rate. Tollgate's {@link #PLENTY} holds fewer tokens: it mints them. */
    public Terms terms() {
      return new Terms(capacity, perMinute);
    }
  }

  /**
   * A bucket's terms.
   *
   * @param capacity the most tokens that it holds; it is full when it is opened
   * @param perMinute the tokens that it gains in a minute
   */
  record Terms(long capacity, double perMinute) {
    /** Validates the terms. */
    public Terms {
      if (capacity < 1 || !(perMinute > 0)) {
        throw new IllegalArgumentException(
            "terms: %d, %s a minute (expected: at least 1, above 0)"
                .formatted(capacity, perMinute));
      }
    }
  }

  /** The name, for tables. */
  String name();

  /** The tokens that one decision takes. */
  default int tokens() {
    return 1;
  }

  /** Whether it decides without a request: its decisions hold in one process only. */
  default boolean isInProcess() {
    return false;
  }

  /** The tokens that a bucket holds at most, by this limiter's own documentation. */
  default Terms terms(Purpose purpose) {
    return purpose.terms();
  }

  /**
   * The tokens that this limiter's own documentation allows beyond those of an ideal bucket, in any
   * window.
   */
  default long slack(Purpose purpose) {
    return 0;
  }

  /**
   * Limiters of new or unused buckets, one for each key. {@link Purpose#DRAINED} is opened once.
   *
   * @param keys 1 or more
   */
  List<Limiter> open(Purpose purpose, int keys);

  /** Closes connections. Buckets are left. */
  @Override
  void close();
}

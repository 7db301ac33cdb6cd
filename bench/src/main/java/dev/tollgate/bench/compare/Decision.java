package dev.tollgate.bench.compare;

/**
 * An answer of a limiter.
 *
 * @param sentNanos when the caller asked, in nanoseconds from any origin
 * @param answeredNanos when it had the answer
 * @param admitted whether it was admitted
 */
record Decision(long sentNanos, long answeredNanos, boolean admitted) {
  long nanos() {
    return answeredNanos - sentNanos;
  }
}

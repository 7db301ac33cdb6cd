package dev.tollgate.bench.compare;

import java.util.OptionalDouble;

/**
 * The figures of one contender in one case.
 *
 * @param delay how each request was delayed
 * @param of who called
 * @param contender the name
 * @param decisions the measured decisions
 * @param admitted those that admitted
 * @param failures calls without a decision
 * @param seconds the time of all rounds
 * @param rounds how often it was measured
 * @param requests the requests on the wire
 * @param p50Millis the median time of a decision
 * @param p99Millis the 99th percentile
 * @param perSecond decisions a second: the median of the rounds
 * @param cpuMicros processor time of this process for each decision, without the relays
 * @param dollars the price of a million decisions; empty where AWS bills by the hour
 * @param excess tokens that were admitted beyond what a token bucket allows; 0 unless drained
 * @param slack the excess that the limiter documents
 */
record Figure(
    Delay delay,
    Case of,
    String contender,
    long decisions,
    long admitted,
    long failures,
    double seconds,
    int rounds,
    long requests,
    double p50Millis,
    double p99Millis,
    double perSecond,
    double cpuMicros,
    OptionalDouble dollars,
    long excess,
    long slack) {
  /** Fewer decisions have no 99th percentile. */
  static final int ENOUGH = 100;

  /** Requests on the wire for each decision. */
  double requestsEach() {
    return decisions == 0 ? 0 : (double) requests / decisions;
  }

  /** Whether each decision was what the case promises. */
  boolean isAsPromised() {
    return failures == 0
        && decisions > 0
        && switch (of.outcome()) {
          case ADMITTED, HANDSHAKE -> admitted == decisions;
          case REFUSED -> admitted == 0;
          case DRAINED -> admitted > 0;
        };
  }
}

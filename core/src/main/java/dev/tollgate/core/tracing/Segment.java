package dev.tollgate.core.tracing;

/**
 * The part of a trace that one invocation, or one message in it, contributes. It is recorded when
 * it is closed. A segment without an outcome is recorded as a fault, because its work has thrown.
 */
public interface Segment extends AutoCloseable {
  /** A segment of a trace that is not sampled: it is not recorded. */
  Segment NONE =
      new Segment() {
        @Override
        public String header() {
          return "";
        }

        @Override
        public void annotate(String name, String value) {}

        @Override
        public void outcome(String outcome, int status) {}

        @Override
        public void close() {}
      };

  /** The trace header for work that continues this segment; empty if nothing is recorded. */
  String header();

  /**
   * Adds a value by which traces can be found.
   *
   * @param name letters, digits and underscores
   * @param value at most 1,000 characters; no secret, because everyone who may read traces sees it
   */
  void annotate(String name, String value);

  /**
   * Sets the annotation {@code outcome}, and what kind of an outcome it is.
   *
   * @param status an HTTP status: 429 is recorded as throttled, another 4xx as an error, 5xx as a
   *     fault
   */
  void outcome(String outcome, int status);

  /** Records the segment. Never throws. */
  @Override
  void close();
}

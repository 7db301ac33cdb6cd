package dev.tollgate.core.tracing;

import java.util.function.Supplier;

/** Records segments of traces: the parts of a trace that this function contributes. */
@FunctionalInterface
public interface Tracing {
  /** Records nothing. */
  Tracing OFF = (name, header) -> Segment.NONE;

  /**
   * Begins a segment. Until it is closed, the function's AWS requests are recorded in it; if
   * several open segments belong to one trace, in the first of them.
   *
   * @param name the name of the work, at most 200 characters
   * @param header provides the trace header of the caller, whose segment becomes the parent. It is
   *     not asked for if tracing is off. A header that is malformed, or whose trace is not sampled,
   *     yields {@link Segment#NONE}
   */
  Segment begin(String name, Supplier<String> header);
}

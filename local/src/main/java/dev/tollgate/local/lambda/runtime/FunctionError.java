package dev.tollgate.local.lambda.runtime;

import java.util.List;

/** What a function that runs in a process of its own reports instead of an answer. */
public final class FunctionError extends Exception {
  private static final long serialVersionUID = 1;

  private final String type;
  private final transient List<String> trace;

  /**
   * @param type the class of an exception, or Lambda's name of the error
   * @param trace its stack trace, a line per frame
   */
  FunctionError(String type, String message, List<String> trace) {
    super(message);
    this.type = type;
    this.trace = List.copyOf(trace);
  }

  /** The error of an answer longer than {@link ExecutionEnvironment#MAX_PAYLOAD_BYTES}. */
  public static FunctionError tooLarge(long bytes) {
    return new FunctionError(
        "Function.ResponseSizeTooLarge",
        "Response payload size (%d bytes) exceeded maximum allowed payload size (%d bytes)."
            .formatted(bytes, ExecutionEnvironment.MAX_PAYLOAD_BYTES),
        List.of());
  }

  /** The class of an exception, or Lambda's name of the error. */
  public String type() {
    return type;
  }

  /** The stack trace of the function, a line per frame. */
  public List<String> trace() {
    return trace;
  }
}

package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.runtime.ExecutionEnvironment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The result of an invocation. */
public sealed interface InvocationResult {

  /**
   * The function answered.
   *
   * @param payload its answer, JSON
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared; a copy would cost megabytes
  record Success(byte[] payload) implements InvocationResult {}

  /** The function failed or could not run: {@code X-Amz-Function-Error}. */
  sealed interface Failure extends InvocationResult {

    /** The error that an AWS client receives instead of the answer, JSON. */
    byte[] payload();

    /** The error message. */
    String message();
  }

  /**
   * The handler threw, or could not be loaded or constructed.
   *
   * @param type class of the exception
   * @param message its message
   * @param trace its stack trace, a line per frame
   */
  record FunctionError(String type, String message, List<String> trace) implements Failure {

    public FunctionError {
      trace = List.copyOf(trace);
    }

    static FunctionError of(Throwable thrown) {
      String message = thrown.getLocalizedMessage();
      return new FunctionError(
          thrown.getClass().getName(),
          message == null ? thrown.getClass().getName() : message,
          Arrays.stream(thrown.getStackTrace())
              .takeWhile(
                  frame ->
                      !frame.getClassName().startsWith(ExecutionEnvironment.class.getPackageName()))
              .map(StackTraceElement::toString)
              .toList());
    }

    @Override
    public byte[] payload() {
      ObjectNode error = Json.object();
      error.put("errorMessage", message).put("errorType", type);
      trace.forEach(error.putArray("stackTrace")::add);
      return Json.bytes(error);
    }
  }

  /**
   * The invocation took longer than the function's time-out and was stopped.
   *
   * @param requestId the invocation
   * @param timeout the function's time-out
   */
  record TimedOut(String requestId, Duration timeout) implements Failure {

    /** The message of Lambda for a time-out. */
    @Override
    public String message() {
      return String.format(
          Locale.ROOT,
          "RequestId: %s Error: Task timed out after %.2f seconds",
          requestId,
          timeout.toMillis() / 1000.0);
    }

    @Override
    public byte[] payload() {
      return new FunctionError("Sandbox.Timedout", message(), List.of()).payload();
    }
  }

  /**
   * Too many invocations were running.
   *
   * @param reason which limit it was, a value of {@code TooManyRequestsException.Reason}
   */
  record Throttled(String reason) implements InvocationResult {}

  /**
   * The function, version or alias does not exist.
   *
   * @param function the name or ARN that was asked for
   */
  record NotFound(String function) implements InvocationResult {}
}

package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.runtime.ExecutionEnvironment;
import dev.tollgate.local.lambda.runtime.FunctionError;
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

  /**
   * The function failed or could not run: {@code X-Amz-Function-Error}.
   *
   * @param type the class of an exception, or Lambda's name of the error
   * @param message its message
   * @param trace its stack trace, a line per frame
   */
  record Failure(String type, String message, List<String> trace) implements InvocationResult {

    public Failure {
      trace = List.copyOf(trace);
    }

    /** The handler threw, or could not be loaded or constructed. */
    static Failure of(Throwable thrown) {
      if (thrown instanceof FunctionError error) {
        return new Failure(error.type(), String.valueOf(error.getMessage()), error.trace());
      }
      String message = thrown.getLocalizedMessage();
      return new Failure(
          thrown.getClass().getName(),
          message == null ? thrown.getClass().getName() : message,
          Arrays.stream(thrown.getStackTrace())
              .takeWhile(
                  frame ->
                      !frame.getClassName().startsWith(ExecutionEnvironment.class.getPackageName()))
              .map(StackTraceElement::toString)
              .toList());
    }

    /** The invocation took longer than the function's time-out and was stopped. */
    public static Failure timedOut(String requestId, Duration timeout) {
      return new Failure(
          "Sandbox.Timedout",
          String.format(
              Locale.ROOT,
              "RequestId: %s Error: Task timed out after %.2f seconds",
              requestId,
              timeout.toMillis() / 1000.0),
          List.of());
    }

    /** The error that an AWS client receives instead of the answer, JSON. */
    public byte[] payload() {
      ObjectNode error = Json.object();
      error.put("errorMessage", message).put("errorType", type);
      trace.forEach(error.putArray("stackTrace")::add);
      return Json.bytes(error);
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

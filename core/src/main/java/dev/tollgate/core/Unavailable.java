package dev.tollgate.core;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * A request to a port failed, or its result is unknown: for example after a time-out or throttling.
 * The request may have been executed.
 */
public class Unavailable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /** Describes the failed operation and keeps the cause. */
  public Unavailable(String operation, Throwable cause) {
    super(operation + ": " + cause.getMessage(), cause);
    this.reason = operation + ": " + cause.getMessage();
  }

  /** Describes the failed operation and the cause. */
  public Unavailable(String reason) {
    super(reason);
    this.reason = reason;
  }

  /** The failed operation and the cause. */
  public String reason() {
    return reason;
  }

  /** The answer of a request; empty if it failed. */
  public static <T> Optional<T> orEmpty(Supplier<Optional<T>> request) {
    try {
      return request.get();
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  /** Sends a request whose failure has no effect. */
  public static void ignore(Runnable request) {
    try {
      request.run();
    } catch (Unavailable unavailable) {
      return;
    }
  }
}

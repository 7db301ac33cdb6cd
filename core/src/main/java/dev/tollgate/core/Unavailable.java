package dev.tollgate.core;

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
}

package dev.tollgate.core;

/**
 * A service behind a port could not be asked, or did not say whether it did what it was asked: a
 * time-out, throttling. Not an answer of "no".
 */
public class Unavailable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /** Names what was asked, and keeps why it failed. */
  public Unavailable(String asked, Throwable cause) {
    super(asked + ": " + cause.getMessage(), cause);
    this.reason = asked + ": " + cause.getMessage();
  }

  /** Names what was asked and what went wrong. */
  public Unavailable(String reason) {
    super(reason);
    this.reason = reason;
  }

  /** What was asked, and what went wrong. */
  public String reason() {
    return reason;
  }
}

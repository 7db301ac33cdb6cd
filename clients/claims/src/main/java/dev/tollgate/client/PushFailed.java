package dev.tollgate.client;

import java.util.OptionalInt;

/** Thrown if a push was refused, or if it is unknown whether it was sent. */
public final class PushFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Zero if there was no answer. */
  private final int status;

  PushFailed(int status, String detail) {
    super(detail);
    this.status = status;
  }

  PushFailed(Exception cause) {
    super("The control plane did not answer: " + cause, cause);
    this.status = 0;
  }

  /**
   * The status of the answer; empty if there was none. After a status of 400 to 499 nothing was
   * sent, except after 409: another request with the same id is in progress. Otherwise the message
   * may have been sent; repeat the push if it has an id.
   */
  public OptionalInt status() {
    return status == 0 ? OptionalInt.empty() : OptionalInt.of(status);
  }
}

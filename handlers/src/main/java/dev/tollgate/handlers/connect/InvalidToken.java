package dev.tollgate.handlers.connect;

/** The handshake has no valid token. The client gets 403 and sees no reason. */
final class InvalidToken extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /** A refusal; the reason is for the log and contains no part of the token. */
  InvalidToken(String reason) {
    super(reason, null, false, false);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}

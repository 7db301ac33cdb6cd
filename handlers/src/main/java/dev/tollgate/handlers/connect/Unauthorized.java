package dev.tollgate.handlers.connect;

/**
 * The handshake has no valid token. API Gateway answers 401 to an authorizer that fails with
 * exactly this message. The client sees no reason.
 */
final class Unauthorized extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /** A refusal; the reason is for the log and contains no part of the token. */
  Unauthorized(String reason) {
    // Without a stack trace, a forged token does not fill the log.
    super("Unauthorized", null, false, false);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}

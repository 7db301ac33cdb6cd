package dev.tollgate.socket;

/** Why a socket is closed and does not try again. */
public sealed interface CloseReason {
  /** The application closed the socket. */
  record Requested() implements CloseReason {}

  /** The deployment has no such tenant. */
  record UnknownTenant() implements CloseReason {}

  /** The tenant is suspended or leaves. */
  record Suspended() implements CloseReason {}

  /** The session is over, and the application does not want another one. */
  record SessionEnded() implements CloseReason {}

  /**
   * The session API does not accept the token, or there is none.
   *
   * @param detail the server's reason
   */
  record Unauthorized(String detail) implements CloseReason {}

  /**
   * The token is for another tenant, or the request must be signed.
   *
   * @param detail the server's reason
   */
  record Forbidden(String detail) implements CloseReason {}

  /**
   * The server does not understand a request: a mistake in the program.
   *
   * @param status the status of the answer
   * @param detail the server's reason
   */
  record Invalid(int status, String detail) implements CloseReason {}
}

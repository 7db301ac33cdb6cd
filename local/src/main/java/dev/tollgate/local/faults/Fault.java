package dev.tollgate.local.faults;

import dev.tollgate.local.endpoint.ApiException;

/** How a request fails. */
public sealed interface Fault {
  /** It is answered with an error, and nothing is done. */
  record Refused(ApiException error) implements Fault {
    /** A refusal by an error with the same name in all protocols. */
    public Refused(int status, String code, String message) {
      this(new ApiException(status, code, message));
    }
  }

  /** The connection breaks before anything is done. */
  record Lost() implements Fault {}

  /** It is never answered, and nothing is done, so that the caller times out. */
  record Hung() implements Fault {}

  /** It is executed, but the connection breaks before the answer. */
  record Unanswered() implements Fault {}

  /** Something else happens first; then the connection breaks, and nothing is done. */
  record Interrupted(Runnable by) implements Fault {}
}

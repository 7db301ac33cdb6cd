package dev.tollgate.core.idempotency;

import java.time.Instant;

/** The result of claiming a key. */
public sealed interface KeyUse {
  /** The key is claimed now: execute the request. */
  record Claimed() implements KeyUse {}

  /** The request was executed before. */
  record Completed(StoredResponse answer) implements KeyUse {}

  /**
   * Another attempt is executing the request.
   *
   * @param until when that attempt's claim expires
   */
  record InProgress(Instant until) implements KeyUse {}

  /** The key belongs to a different request. */
  record OtherRequest() implements KeyUse {}
}

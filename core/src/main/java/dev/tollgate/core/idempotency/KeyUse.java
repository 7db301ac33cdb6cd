package dev.tollgate.core.idempotency;

import java.time.Instant;

/** What a key that was to be claimed is used for. */
public sealed interface KeyUse {
  /** The claim stands now: the request is to be done. */
  record Claimed() implements KeyUse {}

  /** The request was done. */
  record Completed(StoredResponse answer) implements KeyUse {}

  /**
   * The request is being done.
   *
   * @param until when that claim is over at the latest
   */
  record InProgress(Instant until) implements KeyUse {}

  /** Another request has this key. */
  record OtherRequest() implements KeyUse {}
}

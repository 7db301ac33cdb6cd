package dev.tollgate.client;

import java.time.Instant;
import java.util.Optional;

/** The result of a claim for tokens. */
public sealed interface Claim {
  /**
   * All the tokens are spent.
   *
   * @param tokens the number of spent tokens
   */
  record Granted(int tokens) implements Claim {}

  /** The claim was not granted. */
  sealed interface Shortfall extends Claim, ReserveResult {}

  /**
   * Too few tokens are left, or other callers wait for them, or STS issued no credentials for the
   * tenant; none is spent or held. (A token that a request held whose answer was lost becomes
   * available again when its lease ends.)
   *
   * @param retryAt when the missing tokens will be available, if no other caller takes them. With a
   *     place it is the slot of that place: its token is kept for this caller
   * @param place the caller's place in the bucket's line, to be redeemed at {@code retryAt} by
   *     {@link TokenBucket#claim(Place)}; empty if it has none
   */
  record Denied(Instant retryAt, Optional<Place> place) implements Shortfall {
    /** A refusal of a caller without a place. */
    public Denied(Instant retryAt) {
      this(retryAt, Optional.empty());
    }
  }

  /**
   * The bucket's queue failed. The application decides whether to admit or refuse. Up to the
   * claimed number of tokens may have been spent.
   *
   * @param cause the failure, for logs
   */
  record Undecided(String cause) implements Shortfall {}
}

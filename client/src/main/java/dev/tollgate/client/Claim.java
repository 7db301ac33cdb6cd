package dev.tollgate.client;

import java.time.Instant;

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
   * Too few tokens are left; none is spent or held.
   *
   * @param retryAt when the missing tokens will be available, if no other caller takes them
   */
  record Denied(Instant retryAt) implements Shortfall {}

  /**
   * The bucket's queue failed. The application decides whether to admit or refuse. Up to the
   * claimed number of tokens may have been spent.
   *
   * @param cause the failure, for logs
   */
  record Undecided(String cause) implements Shortfall {}
}

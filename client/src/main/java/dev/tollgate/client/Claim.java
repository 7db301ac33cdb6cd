package dev.tollgate.client;

import java.time.Instant;

/** The answer to a claim for tokens. */
public sealed interface Claim {
  /**
   * All the tokens are spent.
   *
   * @param tokens how many
   */
  record Granted(int tokens) implements Claim {}

  /** Tokens are missing. */
  sealed interface Shortfall extends Claim, ReserveResult {}

  /**
   * Too few tokens are left; none is spent or held.
   *
   * @param retryAt when the missing tokens will have come, if nobody else takes them
   */
  record Denied(Instant retryAt) implements Shortfall {}

  /**
   * The bucket could not be asked. The application says whether that admits or refuses. Tokens may
   * have been spent, at most as many as were asked for.
   *
   * @param cause what failed, for logs
   */
  record Undecided(String cause) implements Shortfall {}
}

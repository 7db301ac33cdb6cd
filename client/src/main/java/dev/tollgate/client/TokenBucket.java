package dev.tollgate.client;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A handle to a bucket: one tenant's tokens for one action. Thread-safe.
 *
 * <p>Every method sends requests and may take seconds when AWS is slow. The variants that return a
 * {@link CompletionStage} never throw: the stage fails with the exception that the synchronous
 * variant would throw. Dependent stages run on threads of the client.
 *
 * <p>Every method throws
 *
 * <ul>
 *   <li>{@link IllegalArgumentException}, naming the value and its range, if the number of tokens
 *       or the lease is out of range;
 *   <li>{@link UnknownBucket} if the tenant or the bucket does not exist;
 *   <li>{@link IllegalStateException} if the client is closed.
 * </ul>
 *
 * In each case nothing was claimed.
 */
public interface TokenBucket {
  /** The tenant's id. */
  String tenantId();

  /** What the tokens pay for. */
  String action();

  /** Spends one token. */
  default Claim tryClaim() {
    return tryClaim(1);
  }

  /**
   * Spends n tokens or none.
   *
   * @param n 1 to the bucket's capacity, at most 10,000
   */
  Claim tryClaim(int n);

  /**
   * Spends the available tokens, up to n.
   *
   * @param n 1 to 10,000
   */
  Claimed claimUpTo(int n);

  /**
   * Holds n tokens for 30 seconds, or none. Spend them when the work that they pay for is done.
   *
   * @param n 1 to the bucket's capacity, at most 10,000
   */
  default ReserveResult reserve(int n) {
    return reserve(n, Duration.ofSeconds(30));
  }

  /**
   * Holds n tokens for a given time, or none.
   *
   * @param n 1 to the bucket's capacity, at most 10,000
   * @param lease how long the tokens are held: 1 second to 12 hours, in whole seconds
   */
  ReserveResult reserve(int n, Duration lease);

  /** {@link #tryClaim()}, asynchronously. */
  default CompletionStage<Claim> tryClaimAsync() {
    return tryClaimAsync(1);
  }

  /** {@link #tryClaim(int)}, asynchronously. */
  CompletionStage<Claim> tryClaimAsync(int n);

  /** {@link #claimUpTo(int)}, asynchronously. */
  CompletionStage<Claimed> claimUpToAsync(int n);

  /** {@link #reserve(int)}, asynchronously. */
  default CompletionStage<ReserveResult> reserveAsync(int n) {
    return reserveAsync(n, Duration.ofSeconds(30));
  }

  /**
   * {@link #reserve(int, Duration)}, asynchronously. If the caller has already cancelled or
   * completed the stage, the tokens are returned at once.
   */
  CompletionStage<ReserveResult> reserveAsync(int n, Duration lease);
}

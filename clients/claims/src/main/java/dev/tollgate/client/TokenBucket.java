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
 *
 * <p>A claim that finds its tokens sends two requests, or three at the same depth: it receives the
 * tokens while it reads the bucket's row, unless the client has read it within the last second and
 * nobody has ever waited in the bucket's line; then it spends them. With {@link
 * TollgateClientBuilder#prefetch}, claims of one token may cost a fifth of that. While the client
 * knows that the bucket is empty, or that the next slot of its line has not come, claims are
 * refused without any request, for five seconds at most. So tokens that are added out of turn, for
 * example after a change of the tier, may be refused for five seconds.
 *
 * <p>While callers wait in the bucket's line, see {@link #claimInLine}, claims without a place do
 * not overtake them: {@link #tryClaim}, {@link #claimUpTo} and {@link #reserve} get one token if it
 * is spare, or if the slots of all places have come. Claims for several tokens are refused until
 * nobody waits.
 */
public interface TokenBucket {
  /** The tenant's id. */
  String tenantId();

  /** What the tokens pay for. */
  String action();

  /**
   * Spends one token, or takes a place in the bucket's line. {@link Claim.Denied} has the place and
   * its slot; {@link #claim(Place)} redeems it. So callers are admitted in the order in which they
   * came, each at its first return:
   *
   * <pre>{@code
   * Claim claim = bucket.claimInLine();
   * while (claim instanceof Claim.Denied denied) {
   *   sleepUntil(denied.retryAt());
   *   claim = denied.place().isPresent() ? bucket.claim(denied.place().get()) : bucket.claimInLine();
   * }
   * }</pre>
   *
   * A refusal has no place if the line is full or cannot be written, or if the tenant's tier
   * switched it off. A line has 1,000 places and those of a minute. If it is full, the caller is
   * told when all who wait have had their slots.
   *
   * <p>Each call takes a place. If your users may repeat it, use {@link #claimInLine(String)}.
   */
  Claim claimInLine();

  /**
   * Spends one token, as {@link #claimInLine()}, for a caller that has one place at a time: until
   * it is granted or its place is void, each claim with the same key is for the same place.
   *
   * <pre>{@code
   * Claim claim = bucket.claimInLine(userId);
   * if (claim instanceof Claim.Denied denied) {
   *   sleepUntil(denied.retryAt());
   *   claim = bucket.claimInLine(userId);
   * }
   * }</pre>
   *
   * The client keeps the places of the 10,000 callers that claimed last. Other clients and
   * processes do not know them: in each, the same key may have another place.
   *
   * @param caller a key of the caller, for example a user's id; not empty
   */
  Claim claimInLine(String caller);

  /**
   * Spends one token for a place in this bucket's line.
   *
   * <ul>
   *   <li>Before its slot, the claim is refused with the same place and slot, unless a token is
   *       spare. This costs at most one read and no write.
   *   <li>From its slot on, for two to ten seconds, it is granted. If the token is late, the claim
   *       is refused with the same place, and is granted a second or two later.
   *   <li>A place that is void counts as none, so the caller takes a new one at the end: if its
   *       time is over, if the line was cleared or switched off, if nobody ever took it, or if it
   *       was redeemed.
   * </ul>
   *
   * One client admits a place once. If two processes redeem the same place within its time, both
   * may be granted; the second then spends the token of a caller behind, which is admitted later.
   * The bucket never admits more callers than it has tokens.
   *
   * @throws IllegalArgumentException if the place is one of another bucket
   */
  Claim claim(Place place);

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

  /** {@link #claimInLine()}, asynchronously. */
  CompletionStage<Claim> claimInLineAsync();

  /** {@link #claimInLine(String)}, asynchronously. */
  CompletionStage<Claim> claimInLineAsync(String caller);

  /** {@link #claim(Place)}, asynchronously. */
  CompletionStage<Claim> claimAsync(Place place);

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

package dev.tollgate.client;

import java.time.Instant;

/**
 * Tokens that are held but not yet spent. No other caller gets them before {@link #endsAt}. Closing
 * a reservation without spending it returns the tokens at once:
 *
 * <pre>{@code
 * if (bucket.reserve(3) instanceof Reservation reservation) {
 *   try (reservation) {
 *     send(email);
 *     reservation.spend();
 *   }
 * }
 * }</pre>
 *
 * Thread-safe.
 */
public non-sealed interface Reservation extends ReserveResult, AutoCloseable {
  /** The number of held tokens. */
  int tokens();

  /** When the lease ends and unspent tokens return to the bucket. */
  Instant endsAt();

  /**
   * Spends the tokens.
   *
   * @throws IllegalStateException if they were already spent or returned, or the client is closed
   */
  Settlement spend();

  /**
   * Returns the tokens, unless {@link #spend} was called. Tokens that cannot be returned, because
   * SQS fails or the client is closed, return when their lease ends.
   */
  @Override
  void close();
}

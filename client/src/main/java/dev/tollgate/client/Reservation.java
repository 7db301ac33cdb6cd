package dev.tollgate.client;

import java.time.Instant;

/**
 * Tokens that are held but not yet spent. Nobody else gets them before {@link #endsAt}. Leaving a
 * reservation without spending it returns them at once:
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
  /** How many tokens are held. */
  int tokens();

  /** When the tokens return by themselves. */
  Instant endsAt();

  /**
   * Spends the tokens.
   *
   * @throws IllegalStateException if they have been spent or returned before, or the client is
   *     closed
   */
  Settlement spend();

  /**
   * Returns the tokens, unless {@link #spend} was called. Tokens that cannot be returned, because
   * SQS fails or the client is closed, return when their lease ends.
   */
  @Override
  void close();
}

package dev.tollgate.socket;

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;

/** The state of a socket. Instants are those of the socket's own clock, never the server's. */
public sealed interface SocketState {
  /** A session is being created, a handshake is under way, or the reason of a refusal is asked. */
  record Connecting() implements SocketState {}

  /**
   * The server refused the connection and said what to wait for.
   *
   * @param refusal the limit
   * @param since when the server said so
   * @param until when the socket tries again, or asks again if {@link Refusal#retryAfter} is empty
   */
  record Waiting(Refusal refusal, Instant since, Instant until) implements SocketState {
    /** The time until the next attempt. */
    public Duration remaining(Instant now) {
      Duration left = Duration.between(now, until);
      return left.isNegative() ? Duration.ZERO : left;
    }

    /**
     * How many sessions are probably still ahead of this one: the number that the server told falls
     * evenly until the slot.
     */
    public OptionalLong ahead(Instant now) {
      long total = Math.max(1, Duration.between(since, until).toMillis());
      long left = Math.min(total, remaining(now).toMillis());
      return refusal.ahead().isEmpty()
          ? OptionalLong.empty()
          : OptionalLong.of(
              (long) Math.ceil(refusal.ahead().getAsLong() * (left / (double) total)));
    }
  }

  /** The socket is open. */
  record Open() implements SocketState {}

  /**
   * The connection is lost, or nobody answered.
   *
   * @param attempt counts the failures since the last success; 1 or more
   * @param until when the socket tries again
   * @param cause what failed
   */
  record Reconnecting(int attempt, Instant until, Interruption cause) implements SocketState {}

  /**
   * The end: the socket does not try again.
   *
   * @param reason why
   */
  record Closed(CloseReason reason) implements SocketState {}
}

package dev.tollgate.socket;

/** What failed before an attempt to reconnect. */
public sealed interface Interruption {
  /**
   * The connection was lost.
   *
   * @param code the close code; 1006 if there was no close frame
   * @param reason the server's reason, or that of the network; may be empty
   */
  record Dropped(int code, String reason) implements Interruption {}

  /**
   * A handshake was refused, and the session API knows of no limit that refuses it.
   *
   * @param status the status of the handshake
   */
  record HandshakeRefused(int status) implements Interruption {}

  /**
   * The session API did not do what it was asked for, but may do it later.
   *
   * @param status the status of its answer
   * @param detail its reason
   */
  record NotServed(int status, String detail) implements Interruption {}

  /**
   * Nobody answered.
   *
   * @param detail the failure in words
   */
  record NoAnswer(String detail) implements Interruption {}

  /** The session is over. The next attempt creates another one. */
  record SessionOver() implements Interruption {}
}

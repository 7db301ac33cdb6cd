package dev.tollgate.core.session;

import dev.tollgate.core.Unavailable;

/** Closes, checks and writes to open sockets by connection id. */
public interface Sockets {
  /**
   * Closes a socket, if it is open. A socket in its handshake counts as gone and opens afterwards.
   *
   * @throws Unavailable if the gateway fails
   */
  CloseResult close(String connectionId);

  /**
   * Whether a socket is open. A socket in its handshake is not open yet.
   *
   * @throws Unavailable if the gateway fails
   */
  boolean isOpen(String connectionId);

  /**
   * Sends a frame to a socket at most once, within a few seconds.
   *
   * @throws Unavailable if the frame may not have been sent
   */
  PostResult post(String connectionId, String frame);

  /** The result of closing a socket. */
  enum CloseResult {
    /** The socket is closed now. */
    CLOSED,
    /** The socket was not open. */
    GONE
  }

  /** The result of sending a frame. */
  enum PostResult {
    /** The frame was accepted. */
    SENT,
    /** The socket is not open. */
    GONE
  }
}

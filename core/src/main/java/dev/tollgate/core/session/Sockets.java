package dev.tollgate.core.session;

import dev.tollgate.core.Unavailable;

/** Open sockets, to be reached by the id of their connection. */
public interface Sockets {
  /**
   * Closes a socket; harmless if it is gone. One whose handshake is still under way is, and opens
   * afterwards.
   *
   * @throws Unavailable if that could not be asked
   */
  CloseResult close(String connectionId);

  /**
   * Whether a socket is open. One whose handshake is still under way is not.
   *
   * @throws Unavailable if that could not be asked
   */
  boolean isOpen(String connectionId);

  /**
   * Sends a frame to a socket, never twice, within a few seconds.
   *
   * @throws Unavailable if it is not known whether the frame was sent
   */
  PostResult post(String connectionId, String frame);

  /** What became of a socket that was to be closed. */
  enum CloseResult {
    /** It is closed. */
    CLOSED,
    /** There was none. */
    GONE
  }

  /** What became of a frame. */
  enum PostResult {
    /** It is on its way. */
    SENT,
    /** The socket is closed, or there never was one. */
    GONE
  }
}

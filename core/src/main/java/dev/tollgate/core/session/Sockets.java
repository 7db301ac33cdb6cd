package dev.tollgate.core.session;

import dev.tollgate.core.Unavailable;

/** Open sockets, to be reached by the id of their connection. */
public interface Sockets {
  /**
   * Closes a socket; harmless if it is gone.
   *
   * @throws Unavailable if that could not be asked
   */
  void close(String connectionId);
}

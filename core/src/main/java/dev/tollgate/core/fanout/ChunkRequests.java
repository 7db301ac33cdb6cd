package dev.tollgate.core.fanout;

import dev.tollgate.core.Unavailable;

/** Hands chunks to other invocations of the same function. */
public interface ChunkRequests {
  /**
   * Requests the work on a chunk and does not wait for it. The chunk may be worked on twice.
   *
   * @throws Unavailable if the request may not have been accepted
   */
  void send(Chunk chunk);
}

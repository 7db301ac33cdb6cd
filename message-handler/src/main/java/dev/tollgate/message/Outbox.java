package dev.tollgate.message;

/**
 * Sends frames to other sessions of the tenant whose message is being handled. Use it until the
 * handler returns, in any thread.
 */
@FunctionalInterface
public interface Outbox {
  /**
   * Sends {@code {"type":"push","id":…,"message":…}} to every open socket of a session, and waits
   * until they took it, for two seconds at most. The id is that of the handled message. A message
   * that arrives again after a failure is sent again. Nothing is kept for clients that are offline.
   *
   * @param sessionId a session of the same tenant
   * @param json the message, a JSON text of at most 128 KB, byte for byte
   * @return how many sockets took it; 0 if the session has ended, does not exist or has no socket
   * @throws IllegalArgumentException if the id is malformed, or the text is not JSON or too long
   * @throws RuntimeException if the session cannot be read. If the handler does not catch it, its
   *     message arrives again
   */
  int send(String sessionId, String json);
}

package dev.tollgate.socket;

import java.time.Duration;

/**
 * What a socket tells the application. A socket calls one method after another, on the thread of
 * its {@link Scheduler}; methods must not block. A {@link RuntimeException} that they throw is
 * logged, and the socket goes on.
 */
public interface SocketListener {
  /** The state has changed. */
  default void stateChanged(SocketState state) {}

  /** Another socket of the session sent a message. */
  default void messageReceived(String id, String json) {}

  /** The application on the server answered a message, perhaps one of another socket. */
  default void replyReceived(String id, String json) {}

  /** The backend sent a message unasked. The id is the backend's. */
  default void pushReceived(String id, String json) {}

  /** A message is over the tenant's rate. The socket sends it again after this time. */
  default void messageThrottled(String id, Duration retryAfter) {}

  /**
   * A message failed after its {@code send} was completed with {@link SendResult.Accepted}: the
   * server refused it, or its outcome is unknown.
   */
  default void messageFailed(SendResult result) {}

  /** A handshake was refused with this status. The socket asks for the reason next. */
  default void handshakeRefused(int status) {}

  /** The connection was lost, or the server closed it. */
  default void disconnected(Interruption.Dropped drop) {}

  /** A frame arrived; for logs. */
  default void frameReceived(String text) {}
}

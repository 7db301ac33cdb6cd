package dev.tollgate.socket;

import java.lang.System.Logger.Level;
import java.time.Duration;

/** Calls a listener, and logs what it throws, so that its mistakes do not stop the socket. */
final class GuardedListener implements SocketListener {
  private static final System.Logger LOG = System.getLogger(SocketListener.class.getName());

  private final SocketListener listener;

  GuardedListener(SocketListener listener) {
    this.listener = listener;
  }

  private static void guard(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException mistake) {
      LOG.log(Level.WARNING, "A listener failed; the socket goes on.", mistake);
    }
  }

  @Override
  public void stateChanged(SocketState state) {
    guard(() -> listener.stateChanged(state));
  }

  @Override
  public void messageReceived(String id, String json) {
    guard(() -> listener.messageReceived(id, json));
  }

  @Override
  public void replyReceived(String id, String json) {
    guard(() -> listener.replyReceived(id, json));
  }

  @Override
  public void pushReceived(String id, String json) {
    guard(() -> listener.pushReceived(id, json));
  }

  @Override
  public void messageThrottled(String id, Duration retryAfter) {
    guard(() -> listener.messageThrottled(id, retryAfter));
  }

  @Override
  public void messageFailed(SendResult result) {
    guard(() -> listener.messageFailed(result));
  }

  @Override
  public void handshakeRefused(int status) {
    guard(() -> listener.handshakeRefused(status));
  }

  @Override
  public void disconnected(Interruption.Dropped drop) {
    guard(() -> listener.disconnected(drop));
  }

  @Override
  public void frameReceived(String text) {
    guard(() -> listener.frameReceived(text));
  }
}

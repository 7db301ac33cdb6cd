package dev.tollgate.bench.line;

import dev.tollgate.bench.client.Advice;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The gate of a deployment. Client {@code n} has session {@code n}. Closing it closes sockets. */
final class SessionGate implements Gate, AutoCloseable {
  private final List<Session> sessions;
  private final Instant start;
  private final List<Socket> sockets = new ArrayList<>();

  /**
   * A gate to sessions of one tenant.
   *
   * @param start the start of the run
   */
  SessionGate(List<Session> sessions, Instant start) {
    this.sessions = List.copyOf(sessions);
    this.start = start;
  }

  @Override
  public Answer attempt(int client) {
    Session session = sessions.get(client);
    try {
      Handshake handshake = session.connect();
      if (handshake instanceof Handshake.Admitted admitted) {
        keep(admitted.socket());
        return new Answer.Admitted();
      }
      if (!(handshake instanceof Handshake.Refused refused) || refused.status() != 429) {
        return new Answer.Failed(handshake.word());
      }
      Advice advice = session.advice();
      return new Answer.Refused(
          advice.retryAfter(), advice.nextAttemptAt().map(at -> Duration.between(start, at)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Answer.Failed("interrupted");
    }
  }

  private synchronized void keep(Socket socket) {
    sockets.add(socket);
  }

  @Override
  public synchronized void close() {
    sockets.forEach(Socket::abort);
  }
}

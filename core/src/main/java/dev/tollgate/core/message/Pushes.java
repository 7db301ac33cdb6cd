package dev.tollgate.core.message;

import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.session.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * Sends pushes to the open sockets of sessions, as {@link FrameDelivery} sends replies. It sends
 * each frame once, and removes sockets that are gone. A slow socket delays nobody for more than a
 * second, or 1.4 seconds while other sockets are slow, too. A push takes no token and does not
 * extend its session.
 */
public final class Pushes {
  /** The most sessions to which one call sends at the same time. */
  public static final int PARALLEL_SESSIONS = 4;

  /** The longest time for one session: two rounds of slow sockets, if other sockets are quick. */
  private static final Duration PER_SESSION = Duration.ofSeconds(2);

  private final Sessions sessions;
  private final Sockets sockets;
  private final Disconnection disconnection;
  private final Executor parallel;
  private final Timing timing;
  private final MisbehavingSockets misbehaving;

  /**
   * Pushes to these sessions.
   *
   * @param parallel sends to sessions; its threads limit how many at a time
   * @param timing sends to sockets
   */
  public Pushes(
      Sessions sessions,
      Sockets sockets,
      Disconnection disconnection,
      Executor parallel,
      Timing timing) {
    this.sessions = sessions;
    this.sockets = sockets;
    this.disconnection = disconnection;
    this.parallel = parallel;
    this.timing = timing;
    this.misbehaving = new MisbehavingSockets(timing.clock());
  }

  /**
   * The result of a push.
   *
   * @param sockets how many sockets took the frame
   * @param gone how many were found closed
   * @param failed how many may not have got it: slow sockets, failed requests, no time left
   * @param reason why the first of these failed; empty if none did
   */
  public record Delivered(int sockets, int gone, int failed, Optional<String> reason) {
    private Delivered plus(Delivered other) {
      return new Delivered(
          sockets + other.sockets,
          gone + other.gone,
          failed + other.failed,
          reason.or(other::reason));
    }
  }

  /**
   * Sends to a session, after one read of it.
   *
   * @return empty if the session does not exist
   * @throws Unavailable if the session cannot be read; then nothing is sent
   */
  public Optional<Delivered> toSession(Push push, SessionId session, Duration time) {
    long end = timing.nanoTime().getAsLong() + time.toNanos();
    // Not through the threads for many sessions, which other callers may use.
    return sessions.find(push.tenant(), Set.of(session)).stream()
        .findAny()
        .map(found -> to(push, found, end));
  }

  /**
   * Sends to all sessions of a subject: those that tokens created, and the one that the subject's
   * connections to an attached API share.
   *
   * @return empty if the subject has no session
   * @throws Unavailable if the sessions cannot be read; then nothing is sent
   */
  public Optional<Delivered> toSubject(Push push, Subject subject, Duration time) {
    Set<SessionId> ids = new HashSet<>(sessions.findForSubject(push.tenant(), subject).sessions());
    ids.add(SessionId.of(subject));
    Collection<Session> found = sessions.find(push.tenant(), ids);
    return found.isEmpty() ? Optional.empty() : Optional.of(to(push, found, time));
  }

  /** Sends to sessions that were read just now; {@link #PARALLEL_SESSIONS} at a time. */
  Delivered to(Push push, Collection<Session> read, Duration time) {
    long end = timing.nanoTime().getAsLong() + time.toNanos();
    return Threads.map(read, session -> to(push, session, end), parallel).stream()
        .reduce(new Delivered(0, 0, 0, Optional.empty()), Delivered::plus);
  }

  private Delivered to(Push push, Session session, long end) {
    Instant now = timing.clock().instant();
    if (session.hasEndedAt(now) || session.connections().isEmpty()) {
      return new Delivered(0, 0, 0, Optional.empty());
    }
    Instant handshaking = now.minus(Session.MAX_HANDSHAKE);
    long left = end - timing.nanoTime().getAsLong();
    FrameDelivery delivery =
        new FrameDelivery(
            sockets,
            disconnection,
            misbehaving,
            timing,
            push.tenant(),
            session.id(),
            session.connections(),
            socket -> session.joinedAt(socket).isBefore(handshaking),
            Duration.ofNanos(Math.min(left, PER_SESSION.toNanos())));
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    int taken = delivery.toAll(push.frame(), failures::add);
    return new Delivered(
        taken,
        session.connections().size() - taken - failures.size(),
        failures.size(),
        failures.stream().findFirst().map(Throwable::toString));
  }
}

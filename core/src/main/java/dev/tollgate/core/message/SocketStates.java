package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What this process knows of sessions and sockets that misbehave: how many frames of a session were
 * refused, which sockets are cut off, and since when a socket does not read. It knows that of the
 * 10,000 sessions and sockets that it heard of last.
 *
 * <p>Refused frames are counted by session, so that a socket that comes again has no new allowance.
 *
 * <p>The knowledge is not shared, since writing it down would cost more than what it prevents. So a
 * session whose batches go to n processes in turn has n times the allowance.
 */
final class SocketStates {
  /**
   * Refused frames of a session that are answered: 60 at once and 60 a minute. A client that sends
   * no more than one frame a second while it is refused is never above it, whatever others do with
   * its tenant's tokens. A client above it ignores the answers, and an answer costs more than its
   * frame.
   */
  private static final Gcra REFUSALS = Gcra.perMinute(60);

  /** How long it is remembered that a socket did not read. */
  private static final Duration REMEMBERED = Duration.ofMinutes(5);

  private final InstantSource clock;
  private final Map<Sender, Instant> refusals = new Latest<>();
  private final Map<String, Instant> slowSince = new Latest<>();
  private final Map<String, Instant> cutOff = new Latest<>();
  private Instant lastPrompt = Instant.MIN;

  SocketStates(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts a frame of a session that is refused. */
  synchronized Allowance refused(TenantId tenant, SessionId session) {
    Instant now = clock.instant();
    Sender sender = new Sender(tenant, session);
    Optional<Instant> arrival = Optional.ofNullable(refusals.get(sender));
    if (!REFUSALS.conforms(arrival, now)) {
      return Allowance.EXCEEDED;
    }
    refusals.put(sender, REFUSALS.after(arrival, now));
    return Allowance.LEFT;
  }

  /** From now on nothing is done for frames of this socket, which is closed. */
  synchronized void cutOff(String connectionId) {
    cutOff.put(connectionId, clock.instant());
  }

  /** Whether nothing is done for frames of this socket. */
  synchronized boolean isCutOff(String connectionId) {
    return cutOff.get(connectionId) != null;
  }

  /** Notes that a socket does not take a frame in time. */
  synchronized Slowness slow(String connectionId) {
    Instant now = clock.instant();
    Optional<Instant> since =
        Optional.ofNullable(slowSince.get(connectionId))
            .filter(at -> now.isBefore(at.plus(REMEMBERED)));
    if (since.isEmpty()) {
      slowSince.put(connectionId, now);
    }
    return since.filter(at -> !lastPrompt.isBefore(at)).isPresent()
        ? Slowness.LASTING
        : Slowness.UNCERTAIN;
  }

  /** Notes that a socket has taken a frame in time. */
  synchronized void reached(String connectionId) {
    slowSince.remove(connectionId);
  }

  /** Notes that some socket has taken a frame promptly, so that API Gateway is not slow itself. */
  synchronized void prompt() {
    lastPrompt = clock.instant();
  }

  /** Whether a refused frame is answered. */
  enum Allowance {
    /** It is. */
    LEFT,
    /** It is not: there were too many before it. */
    EXCEEDED
  }

  /** What is to be thought of a socket that does not take a frame in time. */
  enum Slowness {
    /** It took its frames before, or since it did not no socket took one promptly. */
    UNCERTAIN,
    /**
     * It did not take the frames of an earlier batch either, and none since, while another socket
     * took one promptly.
     */
    LASTING
  }

  /** Whose refused frames are counted together. */
  private record Sender(TenantId tenant, SessionId session) {}

  /** An instant for each of those that were heard of last. */
  private static final class Latest<K> extends LinkedHashMap<K, Instant> {
    private static final long serialVersionUID = 1L;
    private static final int MOST = 10_000;

    private Latest() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, Instant> eldest) {
      return size() > MOST;
    }
  }
}

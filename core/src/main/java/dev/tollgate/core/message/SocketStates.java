package dev.tollgate.core.message;

import dev.tollgate.core.session.Gcra;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What this process knows of sockets that misbehave: how many of their frames were refused, and
 * since when they do not read. It knows that of the 10,000 that it heard of last.
 *
 * <p>The knowledge is not shared, since writing it down would cost more than what it prevents. So a
 * socket whose batches go to n processes in turn has n times the allowance; with 50 busy sessions
 * beside it, a socket had 81 refusals.
 */
final class SocketStates {
  /**
   * Refused frames of a socket that are answered: 20 at once and 20 a minute. A client that obeys
   * {@code retryAfterSeconds} has each message refused once or twice and stays far below. A client
   * above it ignores the answers, and an answer costs more than its frame.
   */
  private static final Gcra REFUSALS = Gcra.perMinute(20);

  /** How long it is remembered that a socket did not read. */
  private static final Duration REMEMBERED = Duration.ofMinutes(5);

  private static final int MOST = 10_000;

  private final InstantSource clock;
  private final Map<String, State> states =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, State> eldest) {
          return size() > MOST;
        }
      };

  SocketStates(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts a frame of a socket that is refused. */
  synchronized Allowance refused(String connectionId) {
    Instant now = clock.instant();
    Optional<Instant> arrival = state(connectionId).refusals();
    if (!REFUSALS.conforms(arrival, now)) {
      return Allowance.EXCEEDED;
    }
    Optional<Instant> next = Optional.of(REFUSALS.after(arrival, now));
    change(connectionId, state -> new State(next, state.slowAt(), state.isCutOff()));
    return Allowance.LEFT;
  }

  /** From now on nothing is done for frames of this socket, which is closed. */
  synchronized void cutOff(String connectionId) {
    change(connectionId, state -> new State(state.refusals(), state.slowAt(), true));
  }

  /** Whether nothing is done for frames of this socket. */
  synchronized boolean isCutOff(String connectionId) {
    return state(connectionId).isCutOff();
  }

  /** Notes that a socket does not take a frame in time. */
  synchronized Slowness slow(String connectionId) {
    Instant now = clock.instant();
    boolean isKnown =
        state(connectionId).slowAt().filter(at -> now.isBefore(at.plus(REMEMBERED))).isPresent();
    change(connectionId, state -> new State(state.refusals(), Optional.of(now), state.isCutOff()));
    return isKnown ? Slowness.LASTING : Slowness.NEW;
  }

  /** Notes that a socket has taken a frame. */
  synchronized void reached(String connectionId) {
    if (state(connectionId).slowAt().isPresent()) {
      change(
          connectionId, state -> new State(state.refusals(), Optional.empty(), state.isCutOff()));
    }
  }

  private State state(String connectionId) {
    return states.getOrDefault(connectionId, State.NONE);
  }

  private void change(String connectionId, UnaryOperator<State> change) {
    states.put(connectionId, change.apply(state(connectionId)));
  }

  /** Whether a refused frame is answered. */
  enum Allowance {
    /** It is. */
    LEFT,
    /** It is not: there were too many before it. */
    EXCEEDED
  }

  /** How a socket that does not take a frame has behaved before. */
  enum Slowness {
    /** It took its frames. */
    NEW,
    /** It did not take the frames of an earlier batch either, and none since. */
    LASTING
  }

  /**
   * What is known of a socket.
   *
   * @param refusals when its next refused frame is due by {@link #REFUSALS}
   * @param slowAt when it last failed to take a frame, unless it has taken one since
   * @param isCutOff whether nothing is done for its frames
   */
  private record State(Optional<Instant> refusals, Optional<Instant> slowAt, boolean isCutOff) {
    private static final State NONE = new State(Optional.empty(), Optional.empty(), false);
  }
}

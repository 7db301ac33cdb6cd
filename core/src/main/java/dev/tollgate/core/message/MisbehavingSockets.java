package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The misbehaving sessions and sockets that this process knows: how many frames of a session were
 * refused, which sockets are cut off, and since when a socket is slow. It keeps the 10,000 most
 * recent sessions and sockets.
 *
 * <p>Refused frames are counted by session, so that a new socket gets no new allowance.
 *
 * <p>Processes do not share this state, because writing it would cost more than it prevents. So a
 * session whose batches reach n processes has n times the allowance.
 */
final class MisbehavingSockets {
  /**
   * The allowance of refused frames of a session: 60 at once and 60 a minute. A client that sends
   * at most one frame a second while it is refused never exceeds it. A client that exceeds it
   * ignores the answers, and an answer costs more than its frame.
   */
  private static final Gcra REFUSALS = Gcra.perMinute(60);

  /** The most sessions, slow sockets and closed sockets that are remembered. */
  private static final int REMEMBERED_KEYS = 10_000;

  /** How long a slow socket is remembered. */
  private static final Duration REMEMBERED = Duration.ofMinutes(5);

  /** The most sockets whose last posts tell the usual time. */
  private static final int COMPARED = 32;

  /**
   * Posts that ended longer ago are compared only if there are no others: API Gateway may have
   * become slow, or the process may have slept.
   */
  private static final Duration RECENT = Duration.ofSeconds(1);

  /** A frame that takes no longer is on time, and shows that API Gateway is not slow. */
  static final Duration LEAST_USUAL = Duration.ofMillis(100);

  /** A frame that takes longer counts as late, however long other sockets take. */
  static final Duration MOST_USUAL = Duration.ofMillis(500);

  private final InstantSource clock;
  private final Map<Sender, Instant> refusals = new Recent<>(REMEMBERED_KEYS);
  private final Map<String, Instant> slowSince = new Recent<>(REMEMBERED_KEYS);
  private final Map<String, Instant> cutOff = new Recent<>(REMEMBERED_KEYS);
  private final Map<String, Post> posts = new Recent<>(COMPARED);
  private Instant lastPrompt = Instant.MIN;

  MisbehavingSockets(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts a refused frame of a session. */
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

  /** Marks a closed socket, whose remaining frames are ignored. */
  synchronized void cutOff(String connectionId) {
    cutOff.put(connectionId, clock.instant());
  }

  /** Whether frames of this socket are ignored. */
  synchronized boolean isCutOff(String connectionId) {
    return cutOff.get(connectionId) != null;
  }

  /** Records how long a socket took for a frame, or to fail. */
  synchronized void took(String connectionId, long nanos) {
    posts.put(connectionId, new Post(clock.instant(), nanos));
  }

  /**
   * The time for a frame that does not count as a delay of this socket, in nanoseconds: twice the
   * median of what other sockets took for their last frames, at least {@link #LEAST_USUAL} and at
   * most {@link #MOST_USUAL}. So a socket is not slow because API Gateway is slow. The slow sockets
   * of a tenant move the median only if they are half of the sockets.
   */
  synchronized long usualNanos(String connectionId) {
    Instant recent = clock.instant().minus(RECENT);
    List<Post> others =
        posts.entrySet().stream()
            .filter(post -> !post.getKey().equals(connectionId))
            .map(Map.Entry::getValue)
            .toList();
    boolean isKnown = others.stream().anyMatch(post -> !post.endedAt().isBefore(recent));
    long[] compared =
        others.stream()
            .filter(post -> !isKnown || !post.endedAt().isBefore(recent))
            .mapToLong(Post::nanos)
            .sorted()
            .toArray();
    long median = compared.length == 0 ? 0 : compared[compared.length / 2];
    return Math.max(LEAST_USUAL.toNanos(), Math.min(MOST_USUAL.toNanos(), 2 * median));
  }

  /** Records that a socket did not take a frame in time. */
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

  /** Records that a socket took a frame in time. */
  synchronized void reached(String connectionId) {
    slowSince.remove(connectionId);
  }

  /** Records that some socket took a frame promptly, so API Gateway is not slow. */
  synchronized void prompt() {
    lastPrompt = clock.instant();
  }

  /** Whether a refused frame is answered. */
  enum Allowance {
    /** It is answered. */
    LEFT,
    /** It is not answered: the allowance is used up. */
    EXCEEDED
  }

  /** How certain it is that a socket is slow. */
  enum Slowness {
    /**
     * Uncertain: it took earlier frames in time, or no other socket has taken one promptly since it
     * did not.
     */
    UNCERTAIN,
    /**
     * Certain: it took no frame of an earlier batch in time and none since, while another socket
     * took one promptly.
     */
    LASTING
  }

  /** The session whose refused frames are counted together. */
  private record Sender(TenantId tenant, SessionId session) {}

  /** The last post to a socket. */
  private record Post(Instant endedAt, long nanos) {}

  /** A value for each of the most recently used keys. */
  private static final class Recent<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;

    private final int max;

    private Recent(int max) {
      super(16, 0.75f, true);
      this.max = max;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
      return size() > max;
    }
  }
}

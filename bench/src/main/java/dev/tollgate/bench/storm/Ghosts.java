package dev.tollgate.bench.storm;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Optional;

/**
 * The ghosts of one session: connections that the deployment still counts although their sockets
 * are closed.
 *
 * <p>A client can see the number of ghosts but not which connections they are. This class assumes
 * that the oldest ghost is removed first.
 */
final class Ghosts {
  /** A connection that is removed sooner was not a ghost: its disconnect was late, not lost. */
  private static final Duration LATE = Duration.ofSeconds(5);

  private final Deque<Duration> firstSeen = new ArrayDeque<>();
  private Duration oldestEver = Duration.ZERO;
  private int removed;

  /**
   * Compares the deployment's count with the open sockets.
   *
   * @param at the time of the count; not before that of the last call
   * @param counted the number of connections that the deployment counts
   * @param open the number of sockets that are open
   */
  void observe(Duration at, int counted, int open) {
    int ghosts = Math.max(0, counted - open);
    firstSeen.stream()
        .findFirst()
        .map(seen -> at.minus(seen))
        .filter(age -> age.compareTo(LATE) > 0 && age.compareTo(oldestEver) > 0)
        .ifPresent(age -> oldestEver = age);
    while (firstSeen.size() > ghosts) {
      if (at.minus(firstSeen.removeFirst()).compareTo(LATE) > 0) {
        removed++;
      }
    }
    while (firstSeen.size() < ghosts) {
      firstSeen.addLast(at);
    }
  }

  /** The current number of ghosts. */
  int count() {
    return firstSeen.size();
  }

  /** The number of ghosts that were removed, without late disconnects. */
  int removed() {
    return removed;
  }

  /** The time at which the oldest current ghost was first seen. */
  Optional<Duration> oldest() {
    return firstSeen.stream().findFirst();
  }

  /** The highest age of any ghost so far. */
  Duration oldestEver() {
    return oldestEver;
  }

  /** Summarizes the ghosts of several sessions. */
  static String summary(Collection<Ghosts> sessions, Duration at) {
    int left = sessions.stream().mapToInt(Ghosts::count).sum();
    int removed = sessions.stream().mapToInt(Ghosts::removed).sum();
    Duration oldest =
        sessions.stream()
            .flatMap(session -> session.oldest().stream())
            .min(Duration::compareTo)
            .map(seen -> at.minus(seen))
            .orElse(Duration.ZERO);
    Duration ever =
        sessions.stream().map(Ghosts::oldestEver).max(Duration::compareTo).orElse(Duration.ZERO);
    String ages = left == 0 ? "" : ", the oldest %d s old".formatted(oldest.toSeconds());
    return "%d ghosts at the end%s; %d removed before; none ever older than %d s"
        .formatted(left, ages, removed, Math.max(oldest.toSeconds(), ever.toSeconds()));
  }
}

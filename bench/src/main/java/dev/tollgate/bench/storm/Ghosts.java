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

  private final Deque<Duration> births = new ArrayDeque<>();
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
    births.stream()
        .findFirst()
        .map(birth -> at.minus(birth))
        .filter(age -> age.compareTo(LATE) > 0 && age.compareTo(oldestEver) > 0)
        .ifPresent(age -> oldestEver = age);
    while (births.size() > ghosts) {
      if (at.minus(births.removeFirst()).compareTo(LATE) > 0) {
        removed++;
      }
    }
    while (births.size() < ghosts) {
      births.addLast(at);
    }
  }

  /** The current number of ghosts. */
  int count() {
    return births.size();
  }

  /** The number of ghosts that were removed, without late disconnects. */
  int removed() {
    return removed;
  }

  /** The time at which the oldest current ghost was first seen. */
  Optional<Duration> oldest() {
    return births.stream().findFirst();
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
            .map(birth -> at.minus(birth))
            .orElse(Duration.ZERO);
    Duration ever =
        sessions.stream().map(Ghosts::oldestEver).max(Duration::compareTo).orElse(Duration.ZERO);
    String ages = left == 0 ? "" : ", the oldest %d s old".formatted(oldest.toSeconds());
    return "%d ghosts at the end%s; %d removed before; none ever older than %d s"
        .formatted(left, ages, removed, Math.max(oldest.toSeconds(), ever.toSeconds()));
  }
}

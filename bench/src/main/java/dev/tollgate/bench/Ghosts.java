package dev.tollgate.bench;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Optional;

/**
 * The ghosts of one session: connections that the deployment counts though their sockets are
 * closed.
 *
 * <p>A client sees how many there are, not which. Ghosts are assumed to go in the order in which
 * they came, so a ghost that is removed is the oldest one.
 */
final class Ghosts {
  /** One that goes sooner was no ghost: its disconnect was late, not lost. */
  private static final Duration LATE = Duration.ofSeconds(5);

  private final Deque<Duration> births = new ArrayDeque<>();
  private Duration oldestEver = Duration.ZERO;
  private int removed;

  /**
   * Compares what the deployment counts with what is open.
   *
   * @param at when it was asked; not before the last time
   * @param counted connections that the deployment counts, 0 or more
   * @param open sockets that are really open, 0 or more
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

  /** How many there are now. */
  int count() {
    return births.size();
  }

  /** How many there were, for longer than a late disconnect takes, and are no more. */
  int removed() {
    return removed;
  }

  /** When the oldest one that is still there was seen first. */
  Optional<Duration> oldest() {
    return births.stream().findFirst();
  }

  /** The highest age that any of them was seen at. */
  Duration oldestEver() {
    return oldestEver;
  }

  /** What is left of several sessions' ghosts, with the age of the oldest. */
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

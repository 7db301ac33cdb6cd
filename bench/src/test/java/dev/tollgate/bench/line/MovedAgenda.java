package dev.tollgate.bench.line;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

/** An agenda whose clock a test moves. It runs work on the thread of the test. */
final class MovedAgenda implements Agenda {
  private record Entry(Duration at, long order, Runnable work) {}

  private final PriorityQueue<Entry> entries =
      new PriorityQueue<>(Comparator.comparing(Entry::at).thenComparing(Entry::order));
  private Duration now = Duration.ZERO;
  private long order;

  @Override
  public Duration now() {
    return now;
  }

  @Override
  public void at(Duration time, Runnable work) {
    entries.add(new Entry(time.compareTo(now) > 0 ? time : now, order++, work));
  }

  /** Lets time pass, as for an answer that takes a while. */
  void pass(Duration time) {
    now = now.plus(time);
  }

  /** Runs all work up to a time. */
  void passUntil(Duration end) {
    while (!entries.isEmpty() && entries.peek().at().compareTo(end) <= 0) {
      Entry next = entries.remove();
      now = now.compareTo(next.at()) > 0 ? now : next.at();
      next.work().run();
    }
    now = end;
  }
}

package dev.tollgate.bench.scale;

import dev.tollgate.core.ResizableExecutor;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A clock in microseconds and the events that are due, on one thread.
 *
 * <p>An event runs to its end at once: each request that it sends moves the clock of this event
 * only, and the next event starts at its own time. So the requests of two invocations never
 * interleave, although their times may overlap. What they take from a quota, and how long they
 * occupy a function, counts at their own times.
 *
 * <p>A task of an {@linkplain #executor(int) executor} runs at once, too, and then the clock is set
 * back. The time of the longest task passes with the next request that would wait for the tasks.
 */
final class SimulatedTime implements InstantSource {
  static final long SECOND = 1_000_000;
  static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final Queue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
  private long numbers;
  private long now;
  private long pending;

  private record Event(long at, long number, Runnable work) {}

  @Override
  public Instant instant() {
    return START.plusNanos(now * 1_000);
  }

  /** The microseconds since the start. */
  long now() {
    return now;
  }

  /** Runs {@code work} at a time, after all events that were planned for that time before. */
  void at(long micros, Runnable work) {
    events.add(new Event(Math.max(micros, now), numbers++, work));
  }

  /** Runs the events until a time, and those that they plan. */
  void runUntil(long end) {
    while (!events.isEmpty() && events.element().at() <= end) {
      Event next = events.remove();
      now = next.at();
      pending = 0;
      next.work().run();
    }
    now = end;
  }

  /** Waits for the tasks of executors. */
  void join() {
    now = Math.max(now, pending);
    pending = 0;
  }

  /** Lets time pass for the running event or task. */
  void pass(long micros) {
    now += micros;
  }

  /** Waits for the tasks of executors, and then for {@code pause}. */
  void pause(Duration pause) {
    join();
    pass(pause.toNanos() / 1_000);
  }

  /** Runs {@code work} without moving the clock; returns when the work and its tasks end. */
  long endOf(Runnable work) {
    long start = now;
    long others = pending;
    pending = 0;
    try {
      work.run();
    } finally {
      join();
    }
    long end = now;
    now = start;
    pending = others;
    return end;
  }

  /** An executor of this many threads; further tasks wait. */
  Workers executor(int threads) {
    return new Workers(threads);
  }

  /** An executor whose tasks take simulated time. */
  final class Workers extends AbstractExecutorService implements ResizableExecutor {
    private int threads;
    private final Queue<Long> busyUntil = new PriorityQueue<>();

    private Workers(int threads) {
      this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
      long asked = now;
      while (busyUntil.size() >= threads) {
        now = Math.max(now, busyUntil.remove());
      }
      long end = endOf(task);
      busyUntil.add(end);
      now = asked;
      pending = Math.max(pending, end);
    }

    @Override
    public void resize(int next) {
      threads = next;
    }

    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
      return Collections.emptyList();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }
  }
}

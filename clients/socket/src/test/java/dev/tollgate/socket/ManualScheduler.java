package dev.tollgate.socket;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A scheduler that runs steps on the thread of the test, and whose clock the test moves. Steps may
 * be submitted by any thread.
 */
public final class ManualScheduler implements Scheduler, InstantSource {
  /** Long enough for a loaded machine. A wait ends as soon as the network has answered. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private record Timer(Instant at, long number, Runnable task) {}

  private final Deque<Runnable> ready = new ArrayDeque<>();
  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(Comparator.comparing(Timer::at).thenComparing(Timer::number));
  private Instant now;
  private long numbers;
  private int pending;

  /**
   * @param start the time of the clock
   */
  public ManualScheduler(Instant start) {
    now = start;
  }

  @Override
  public synchronized Instant instant() {
    return now;
  }

  @Override
  public synchronized void execute(Runnable task) {
    ready.add(task);
    notifyAll();
  }

  @Override
  public synchronized Cancellable after(Duration delay, Runnable task) {
    Timer timer = new Timer(now.plus(delay), ++numbers, task);
    timers.add(timer);
    return () -> {
      synchronized (this) {
        timers.remove(timer);
      }
    };
  }

  @Override
  public <T> void when(CompletionStage<T> answer, Consumer<? super T> then) {
    synchronized (this) {
      pending++;
    }
    var unused =
        answer.thenAccept(
            value ->
                execute(
                    () -> {
                      synchronized (this) {
                        pending--;
                      }
                      then.accept(value);
                    }));
  }

  private synchronized Optional<Runnable> next() {
    return Optional.ofNullable(ready.poll());
  }

  /** Runs what is ready. */
  public void run() {
    for (Optional<Runnable> step = next(); step.isPresent(); step = next()) {
      step.get().run();
    }
  }

  /** Moves the clock, and runs what is due on the way at its time. */
  public void advance(Duration by) {
    run();
    Instant end = instant().plus(by);
    for (Optional<Timer> due = due(end); due.isPresent(); due = due(end)) {
      due.get().task().run();
      run();
    }
    synchronized (this) {
      now = end;
    }
  }

  private synchronized Optional<Timer> due(Instant end) {
    Timer first = timers.peek();
    if (first == null || first.at().isAfter(end)) {
      return Optional.empty();
    }
    timers.remove();
    now = first.at().isAfter(now) ? first.at() : now;
    return Optional.of(first);
  }

  /** The time until the next timer; empty if there is none. */
  public synchronized Optional<Duration> untilNext() {
    return Optional.ofNullable(timers.peek()).map(timer -> Duration.between(now, timer.at()));
  }

  /** Runs steps until no request waits for the network. */
  public void settle() throws InterruptedException {
    await(
        () -> {
          synchronized (this) {
            return pending == 0 && ready.isEmpty();
          }
        });
  }

  /** Runs steps until a condition holds, without moving the clock. */
  public void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    run();
    while (!condition.getAsBoolean()) {
      synchronized (this) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError("nothing happened for " + LIMIT);
        }
        if (ready.isEmpty()) {
          wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
        }
      }
      run();
    }
  }
}

package dev.tollgate.cli.command;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.socket.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Runs the steps of sockets on the thread of a command, with the time of its shell. Waits for the
 * time are waits of the shell, so a test that does not wait sees them; waits for an answer from the
 * network are real.
 */
final class EventLoop implements Scheduler, InstantSource {
  private record Timer(Instant at, long number, Runnable task) {}

  private final Shell shell;
  private final BlockingQueue<Runnable> ready = new LinkedBlockingQueue<>();
  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(Comparator.comparing(Timer::at).thenComparing(Timer::number));

  /** Real time that the shell's time does not show. */
  private Duration waited = Duration.ZERO;

  private Optional<Instant> wakesAt = Optional.empty();
  private long numbers;
  private int pending;

  EventLoop(Shell shell) {
    this.shell = shell;
  }

  /** The time of the shell, which begins anywhere. */
  @Override
  public Instant instant() {
    return Instant.EPOCH.plusNanos(shell.nanoTime().getAsLong()).plus(waited);
  }

  @Override
  public void execute(Runnable task) {
    ready.add(task);
  }

  @Override
  public Cancellable after(Duration delay, Runnable task) {
    Timer timer = new Timer(instant().plus(delay), ++numbers, task);
    timers.add(timer);
    return () -> timers.remove(timer);
  }

  @Override
  public <T> void when(CompletionStage<T> answer, Consumer<? super T> then) {
    pending++;
    var unused =
        answer.thenAccept(
            value ->
                execute(
                    () -> {
                      pending--;
                      then.accept(value);
                    }));
  }

  /** Runs steps until a condition holds. */
  void runUntil(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      try {
        next().run();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw Failure.of("interrupted", e);
      }
    }
  }

  /** As {@link #runUntil}, for a condition that the network brings about. */
  void runUntilAnswered(BooleanSupplier condition) {
    pending++;
    runUntil(condition);
    pending--;
  }

  private Runnable next() throws InterruptedException {
    Runnable step = ready.poll();
    if (step != null) {
      return step;
    }
    Timer first = timers.peek();
    if (first == null) {
      return ready.take();
    }
    Duration left = Duration.between(instant(), first.at());
    if (left.compareTo(Duration.ZERO) > 0) {
      if (pending == 0) {
        wakeAfter(left);
        return ready.take();
      }
      step = ready.poll(left.toNanos(), TimeUnit.NANOSECONDS);
      if (step != null) {
        return step;
      }
      Duration missing = Duration.between(instant(), first.at());
      waited = missing.isNegative() ? waited : waited.plus(missing);
    }
    timers.remove(first);
    return first.task();
  }

  /** Waits on another thread, because frames may arrive meanwhile. */
  private void wakeAfter(Duration time) {
    Instant at = instant().plus(time);
    if (wakesAt.filter(earlier -> !earlier.isAfter(at)).isPresent()) {
      return;
    }
    wakesAt = Optional.of(at);
    Thread waiting = new Thread(() -> execute(wakeUp(time)), "tollgate-timer");
    waiting.setDaemon(true);
    waiting.start();
  }

  private Runnable wakeUp(Duration time) {
    try {
      shell.pause().sleep(time);
      return () -> wakesAt = Optional.empty();
    } catch (InterruptedException e) {
      return () -> {
        throw Failure.of("interrupted", e);
      };
    }
  }
}

package dev.tollgate.socket;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Runs the steps of sockets, one after another and in order. A socket calls its listener in such a
 * step, so a listener that blocks delays all sockets of the scheduler.
 */
public interface Scheduler extends Executor {
  /** Runs a task after a delay, unless it is cancelled before. */
  Cancellable after(Duration delay, Runnable task);

  /**
   * Runs a step when an answer from the network has arrived. A scheduler with a clock of its own
   * can tell from this whether a socket waits for the network or for the time.
   */
  default <T> void when(CompletionStage<T> answer, Consumer<? super T> then) {
    var unused = answer.thenAccept(value -> execute(() -> then.accept(value)));
  }

  /** A task that has not run yet. */
  @FunctionalInterface
  interface Cancellable {
    /** Keeps the task from running. Does nothing if it has run. */
    void cancel();
  }
}

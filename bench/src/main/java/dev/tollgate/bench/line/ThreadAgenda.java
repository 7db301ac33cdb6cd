package dev.tollgate.bench.line;

import dev.tollgate.bench.Stopwatch;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** An agenda that runs work on threads of its own. Closing it interrupts what is running. */
final class ThreadAgenda implements Agenda, AutoCloseable {
  private final Stopwatch stopwatch;
  private final Duration start;
  private final ScheduledThreadPoolExecutor threads;

  /**
   * Starts a run now.
   *
   * @param size how much work may run at the same time, 1 or more
   */
  ThreadAgenda(Stopwatch stopwatch, int size) {
    this.stopwatch = stopwatch;
    this.start = stopwatch.elapsed();
    this.threads =
        new ScheduledThreadPoolExecutor(
            size,
            work -> {
              Thread thread = new Thread(work, "client");
              thread.setDaemon(true);
              return thread;
            });
    threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public Duration now() {
    return stopwatch.elapsed().minus(start);
  }

  @Override
  public void at(Duration time, Runnable work) {
    if (!threads.isShutdown()) {
      var unused = threads.schedule(work, time.minus(now()).toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}

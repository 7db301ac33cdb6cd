package dev.tollgate.socket;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A scheduler with a daemon thread, which ends with {@link #stop}. */
final class ThreadScheduler implements Scheduler {
  private final ScheduledThreadPoolExecutor executor;

  ThreadScheduler(String name) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            },
            // Answers that arrive after the end.
            new ThreadPoolExecutor.DiscardPolicy());
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public void execute(Runnable task) {
    executor.execute(task);
  }

  @Override
  public Cancellable after(Duration delay, Runnable task) {
    ScheduledFuture<?> scheduled = executor.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    return () -> scheduled.cancel(false);
  }

  /** Runs what has been submitted, and no more. */
  void stop() {
    executor.shutdown();
  }
}

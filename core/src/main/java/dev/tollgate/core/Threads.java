package dev.tollgate.core;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that wait for answers. They end when nobody has needed them for a while, and keep no
 * process alive: whoever has them need not close them.
 */
public final class Threads {
  private static final Duration IDLE = Duration.ofSeconds(10);

  private Threads() {}

  /** As many as there are tasks, but no more than {@code most}; the other tasks wait. */
  public static ExecutorService upTo(int most, String name) {
    return ending(
        new ThreadPoolExecutor(
            most,
            most,
            IDLE.toMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            daemons(name)));
  }

  /** As many as there are tasks. */
  public static ExecutorService unbounded(String name) {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        IDLE.toMillis(),
        TimeUnit.MILLISECONDS,
        new SynchronousQueue<>(),
        daemons(name));
  }

  /** One, for what is to be done later unless it is cancelled, and soon done. */
  public static ScheduledExecutorService timer(String name) {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons(name));
    timer.setRemoveOnCancelPolicy(true);
    timer.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
    return ending(timer);
  }

  private static <T extends ThreadPoolExecutor> T ending(T pool) {
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}

package dev.tollgate.core;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Executors for blocking requests, and a way to send many at a time. Their threads are daemons and
 * end after ten idle seconds, so the executors need not be shut down.
 */
public final class Threads {
  private static final Duration IDLE = Duration.ofSeconds(10);

  private Threads() {}

  /** An executor of at most {@code max} threads; further tasks wait. */
  public static ExecutorService upTo(int max, String name) {
    return new Pool(max, name);
  }

  /** An executor of at most {@code max} threads at first; further tasks wait. */
  public static ResizableExecutor resizable(int max, String name) {
    return new Pool(max, name);
  }

  /** An executor of one thread for each running task. */
  public static ExecutorService unbounded(String name) {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        IDLE.toMillis(),
        TimeUnit.MILLISECONDS,
        new SynchronousQueue<>(),
        daemons(name));
  }

  /** A timer of one thread, for short tasks that are often cancelled. */
  public static ScheduledExecutorService timer(String name) {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons(name));
    timer.setRemoveOnCancelPolicy(true);
    timer.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
    return ending(timer);
  }

  /**
   * Runs a function for each item, as many at a time as the executor has threads. Returns the
   * results in the order of the items.
   */
  public static <T, R> List<R> map(
      Collection<T> items, Function<T, R> function, Executor executor) {
    List<CompletableFuture<R>> running =
        items.stream()
            .map(item -> CompletableFuture.supplyAsync(() -> function.apply(item), executor))
            .toList();
    return running.stream().map(CompletableFuture::join).toList();
  }

  /** Runs an action for each item, in parallel like {@link #map}. */
  public static <T> void forEach(Collection<T> items, Consumer<T> action, Executor executor) {
    map(
        items,
        item -> {
          action.accept(item);
          return true;
        },
        executor);
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

  private static final class Pool extends ThreadPoolExecutor implements ResizableExecutor {
    private Pool(int max, String name) {
      super(
          max,
          max,
          IDLE.toMillis(),
          TimeUnit.MILLISECONDS,
          new LinkedBlockingQueue<>(),
          daemons(name));
      allowCoreThreadTimeOut(true);
    }

    @Override
    public synchronized void resize(int threads) {
      if (threads > getMaximumPoolSize()) {
        setMaximumPoolSize(threads);
        setCorePoolSize(threads);
      } else {
        setCorePoolSize(threads);
        setMaximumPoolSize(threads);
      }
    }
  }
}

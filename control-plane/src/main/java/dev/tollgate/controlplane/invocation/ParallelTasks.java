package dev.tollgate.controlplane.invocation;

import dev.tollgate.core.Unavailable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Predicate;

/** Runs a task for each of many items in parallel. A failed task does not stop the others. */
public final class ParallelTasks {
  private final ExecutorService workers;

  /** Tasks that run on these threads. */
  public ParallelTasks(ExecutorService workers) {
    this.workers = workers;
  }

  /**
   * Runs a task for each item, and counts the tasks that return true. An exception is logged and
   * counts as false. An item for which no time is left counts as false, too.
   */
  public <T> long count(Collection<T> items, Predicate<T> task, Invocation invocation) {
    return succeeded(items, task, invocation).size();
  }

  /** Like {@link #count}, but returns the items of the tasks that return true. */
  public <T> List<T> succeeded(Collection<T> items, Predicate<T> task, Invocation invocation) {
    List<Callable<Boolean>> tasks = new ArrayList<>();
    items.forEach(item -> tasks.add(() -> !invocation.isOver() && task.test(item)));
    List<T> succeeded = new ArrayList<>();
    try {
      Iterator<Future<Boolean>> futures = workers.invokeAll(tasks).iterator();
      for (T item : items) {
        if (isSuccess(futures.next(), invocation)) {
          succeeded.add(item);
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return succeeded;
  }

  /**
   * Runs a function for each item; returns the results in the order of the items. An exception of
   * the function is rethrown.
   *
   * @throws Unavailable if the time runs out for all items
   */
  public <T, R> List<R> map(Collection<T> items, Function<T, R> function, Invocation invocation) {
    List<Callable<R>> tasks = new ArrayList<>();
    for (T item : items) {
      tasks.add(
          () -> {
            if (invocation.isOver()) {
              throw new Unavailable("no time left");
            }
            return function.apply(item);
          });
    }
    List<R> results = new ArrayList<>();
    try {
      for (Future<R> future : workers.invokeAll(tasks)) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof RuntimeException thrown
          ? thrown
          : new IllegalStateException(failed.getCause());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Unavailable("interrupted");
    }
  }

  private static boolean isSuccess(Future<Boolean> future, Invocation invocation)
      throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException failed) {
      invocation.log("failed: " + failed.getCause());
      return false;
    }
  }
}

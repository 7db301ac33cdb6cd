package dev.tollgate.controlplane.invocation;

import dev.tollgate.core.Unavailable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Predicate;

/** Does the same to many things, several at a time; the failure of one does not stop the others. */
public final class ParallelTasks {
  private final ExecutorService workers;

  public ParallelTasks(ExecutorService workers) {
    this.workers = workers;
  }

  /**
   * Counts the things that the work was done for. What it throws is logged and counts as not done,
   * as does what there is no time for.
   */
  public <T> long count(Collection<T> things, Predicate<T> work, Invocation invocation) {
    List<Callable<Boolean>> tasks = new ArrayList<>();
    things.forEach(thing -> tasks.add(() -> !invocation.isOver() && work.test(thing)));
    try {
      long done = 0;
      for (Future<Boolean> task : workers.invokeAll(tasks)) {
        done += isDone(task, invocation) ? 1 : 0;
      }
      return done;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  /**
   * What the work gives for each of the things, in their order. What it throws for one is thrown.
   *
   * @throws Unavailable if there is no time for all
   */
  public <T, R> List<R> map(Collection<T> things, Function<T, R> work, Invocation invocation) {
    List<Callable<R>> tasks = new ArrayList<>();
    for (T thing : things) {
      tasks.add(
          () -> {
            if (invocation.isOver()) {
              throw new Unavailable("no time left");
            }
            return work.apply(thing);
          });
    }
    List<R> results = new ArrayList<>();
    try {
      for (Future<R> task : workers.invokeAll(tasks)) {
        results.add(task.get());
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

  private static boolean isDone(Future<Boolean> task, Invocation invocation)
      throws InterruptedException {
    try {
      return task.get();
    } catch (ExecutionException failed) {
      invocation.log("failed: " + failed.getCause());
      return false;
    }
  }
}

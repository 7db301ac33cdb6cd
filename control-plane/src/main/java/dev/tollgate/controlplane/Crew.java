package dev.tollgate.controlplane;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Predicate;

/** Does the same to many things, several at a time; the failure of one does not stop the others. */
final class Crew {
  private final ExecutorService workers;

  Crew(ExecutorService workers) {
    this.workers = workers;
  }

  /**
   * Counts the things that the work was done for. What it throws is logged and counts as not done,
   * as does what there is no time for.
   */
  <T> long count(Collection<T> things, Predicate<T> work, Invocation invocation) {
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

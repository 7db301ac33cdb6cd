package dev.tollgate.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A fixed number of clients that act at the same time. */
public final class Clients implements AutoCloseable {
  private final ExecutorService threads;

  /**
   * @param size the number of clients, 1 or more
   */
  public Clients(int size) {
    threads =
        Executors.newFixedThreadPool(
            size,
            client -> {
              Thread thread = new Thread(client, "client");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Runs all tasks, one per client at a time, and waits for their results.
   *
   * @throws IllegalStateException if a task failed, with its failure as the cause
   */
  public <T> List<T> run(List<? extends Callable<T>> tasks) throws InterruptedException {
    List<T> results = new ArrayList<>();
    for (Future<T> done : threads.invokeAll(tasks)) {
      try {
        results.add(done.get());
      } catch (ExecutionException e) {
        throw new IllegalStateException(String.valueOf(e.getCause()), e.getCause());
      }
    }
    return results;
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}

package dev.tollgate.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A fixed number of clients that act at the same time. */
public final class Crowd implements AutoCloseable {
  private final ExecutorService clients;

  /**
   * A crowd of {@code size} clients.
   *
   * @param size 1 or more
   */
  public Crowd(int size) {
    clients =
        Executors.newFixedThreadPool(
            size,
            client -> {
              Thread thread = new Thread(client, "client");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Has the clients do all tasks, as many at a time as there are clients, and waits for them.
   *
   * @throws IllegalStateException if a task failed, with its failure as the cause
   */
  public <T> List<T> run(List<? extends Callable<T>> tasks) throws InterruptedException {
    List<T> results = new ArrayList<>();
    for (Future<T> done : clients.invokeAll(tasks)) {
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
    clients.shutdownNow();
  }
}

package dev.tollgate.core.testing;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Runs an action on many threads that start together. */
public final class Race {
  private Race() {}

  /** Calls {@code step} with 0 to {@code threads} − 1 and returns the results in that order. */
  public static <T> List<T> of(int threads, IntFunction<T> step) {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      CountDownLatch start = new CountDownLatch(1);
      List<Future<T>> answers =
          IntStream.range(0, threads)
              .mapToObj(
                  i ->
                      executor.submit(
                          () -> {
                            start.await();
                            return step.apply(i);
                          }))
              .toList();
      start.countDown();
      return answers.stream().map(Race::answer).toList();
    } finally {
      executor.shutdownNow();
    }
  }

  private static <T> T answer(Future<T> future) {
    try {
      return future.get();
    } catch (ExecutionException | InterruptedException failure) {
      throw new AssertionError(failure);
    }
  }
}

package dev.tollgate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ThreadsTest {
  static List<ExecutorService> all() {
    return List.of(Threads.upTo(3, "some"), Threads.unbounded("some"), Threads.timer("some"));
  }

  @ParameterizedTest
  @MethodSource("all")
  void threads_are_named_daemons_that_end_when_idle(ExecutorService threads) throws Exception {
    Thread thread = threads.submit(Thread::currentThread).get();

    assertThat(thread.getName()).isEqualTo("some");
    assertThat(thread.isDaemon()).isTrue();
    ThreadPoolExecutor pool = (ThreadPoolExecutor) threads;
    assertThat(pool.getCorePoolSize() == 0 || pool.allowsCoreThreadTimeOut()).isTrue();
    assertThat(pool.getKeepAliveTime(TimeUnit.SECONDS)).isPositive();
  }

  @Test
  void pool_runs_at_most_the_given_number_of_threads() throws Exception {
    ThreadPoolExecutor threads = (ThreadPoolExecutor) Threads.upTo(3, "few");
    CyclicBarrier three = new CyclicBarrier(3);
    Callable<Integer> meeting = () -> three.await(10, TimeUnit.SECONDS);

    for (Future<Integer> met : threads.invokeAll(Collections.nCopies(30, meeting))) {
      assertThat(met.get()).isBetween(0, 2);
    }

    assertThat(threads.getLargestPoolSize()).isEqualTo(3);
  }

  @Test
  void resized_pool_starts_no_more_than_the_new_number_of_tasks_at_a_time() throws Exception {
    ResizableExecutor threads = Threads.resizable(3, "some");
    for (int size : new int[] {1, 2, 5, 4}) {
      threads.resize(size);
      AtomicInteger running = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      CyclicBarrier full = new CyclicBarrier(size);
      CompletableFuture<?>[] tasks = new CompletableFuture<?>[20 * size];
      for (int i = 0; i < tasks.length; i++) {
        tasks[i] =
            CompletableFuture.runAsync(
                () -> {
                  most.accumulateAndGet(running.incrementAndGet(), Math::max);
                  meet(full);
                  running.decrementAndGet();
                },
                threads);
      }
      CompletableFuture.allOf(tasks).get(10, TimeUnit.SECONDS);

      assertThat(most).hasValue(size);
    }
  }

  private static void meet(CyclicBarrier all) {
    try {
      all.await(10, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  @Test
  void cancelled_task_is_removed() {
    ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) Threads.timer("later");

    assertThat(timer.schedule(() -> {}, 1, TimeUnit.DAYS).cancel(false)).isTrue();

    assertThat(timer.getQueue()).isEmpty();
  }
}

package dev.tollgate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
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
  void cancelled_task_is_removed() {
    ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) Threads.timer("later");

    assertThat(timer.schedule(() -> {}, 1, TimeUnit.DAYS).cancel(false)).isTrue();

    assertThat(timer.getQueue()).isEmpty();
  }
}

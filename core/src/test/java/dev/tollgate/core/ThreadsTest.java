package dev.tollgate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ThreadsTest {
  static List<ExecutorService> all() {
    return List.of(Threads.upTo(3, "some"), Threads.unbounded("some"), Threads.timer("some"));
  }

  @ParameterizedTest
  @MethodSource("all")
  void they_have_a_name_keep_no_process_alive_and_end_when_idle(ExecutorService threads)
      throws Exception {
    Thread thread = threads.submit(Thread::currentThread).get();

    assertThat(thread.getName()).isEqualTo("some");
    assertThat(thread.isDaemon()).isTrue();
    ThreadPoolExecutor pool = (ThreadPoolExecutor) threads;
    assertThat(pool.getCorePoolSize() == 0 || pool.allowsCoreThreadTimeOut()).isTrue();
    assertThat(pool.getKeepAliveTime(TimeUnit.SECONDS)).isPositive();
  }

  @Test
  void no_more_than_so_many_run_at_once_and_all_run() throws Exception {
    Semaphore running = new Semaphore(3);
    Callable<Boolean> task =
        () -> {
          boolean within = running.tryAcquire();
          Thread.sleep(1);
          running.release();
          return within;
        };
    List<Callable<Boolean>> tasks = IntStream.range(0, 50).mapToObj(i -> task).toList();

    for (Future<Boolean> within : Threads.upTo(3, "few").invokeAll(tasks)) {
      assertThat(within.get()).isTrue();
    }
  }

  @Test
  void what_is_cancelled_is_kept_no_longer() {
    ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) Threads.timer("later");

    assertThat(timer.schedule(() -> {}, 1, TimeUnit.DAYS).cancel(false)).isTrue();

    assertThat(timer.getQueue()).isEmpty();
  }
}

package dev.tollgate.cli.pacing;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options that limit how fast many changes are made.
 *
 * <p>The default rate stays below the quotas of the services behind the control plane. A pooled
 * tenant costs two {@code CreateQueue}, two {@code CreateSchedule} and one {@code AssumeRole}.
 * EventBridge Scheduler allows 250 to 5,000 {@code CreateSchedule} a second, depending on the
 * Region (EventBridge Scheduler User Guide, "Quotas"); 25 tenants a second use 50. STS allows about
 * 600 {@code AssumeRole} a second per account and Region, which connections need as well. The quota
 * of {@code CreateQueue} is not published; the control plane retries throttled calls within a
 * minute. A tenant with a silo also costs several calls of Lambda's control plane, whose quota is
 * 15 a second in total (AWS Lambda Developer Guide, "Lambda quotas"); 3 tenants a second stay below
 * it.
 */
public final class Throughput {
  private static final int MAX_PARALLEL = 64;
  private static final double MAX_RATE = 1_000;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description = "Number of changes to make in parallel. Default: 32.")
  private int parallel = 32;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "Maximum number of requests per second. Default: 25. Use 3 for tenants with a silo, because"
              + " AWS Lambda creates few functions per second.")
  private double rate = 25;

  /**
   * Limits an API to the rate.
   *
   * @throws Failure if an option is out of range
   */
  public PacedApi paced(Sender api, Shell shell) {
    if (!(rate > 0 && rate <= MAX_RATE)) {
      throw Failure.usage("--rate: " + rate + " (expected: more than 0, at most 1000)");
    }
    if (parallel < 1 || parallel > MAX_PARALLEL) {
      throw Failure.usage("--parallel: " + parallel + " (expected: 1 to " + MAX_PARALLEL + ")");
    }
    return new PacedApi(api, rate, shell);
  }

  /**
   * Runs a task for each item, several at a time, and waits until all are finished.
   *
   * @param task returns whether to go on with the remaining items; an exception stops them, too,
   *     and is rethrown
   * @return the items that were not started
   */
  public <T> List<T> forEach(List<T> items, Predicate<T> task) {
    AtomicInteger started = new AtomicInteger();
    AtomicBoolean continues = new AtomicBoolean(true);
    AtomicReference<@Nullable RuntimeException> thrown = new AtomicReference<>();
    int workers = Math.min(parallel, items.size());
    CountDownLatch done = new CountDownLatch(workers);
    for (int worker = 0; worker < workers; worker++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  while (continues.get()) {
                    int index = started.getAndIncrement();
                    if (index >= items.size()) {
                      return;
                    }
                    if (!task.test(items.get(index))) {
                      continues.set(false);
                    }
                  }
                } catch (RuntimeException e) {
                  continues.set(false);
                  thrown.compareAndSet(null, e);
                } finally {
                  done.countDown();
                }
              },
              "tollgate-worker-" + worker);
      thread.setDaemon(true);
      thread.start();
    }
    await(done);
    RuntimeException failure = thrown.get();
    if (failure != null) {
      throw failure;
    }
    return items.subList(Math.min(started.get(), items.size()), items.size());
  }

  private static void await(CountDownLatch done) {
    try {
      done.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }
}

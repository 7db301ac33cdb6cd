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
 * How much of a long list of changes is done at a time.
 *
 * <p>The rate is one that the services behind the control plane can follow. A pooled tenant costs
 * two {@code CreateQueue}, two {@code CreateSchedule} and one {@code AssumeRole}. EventBridge
 * Scheduler takes 250 to 5,000 {@code CreateSchedule} a second, depending on the Region
 * (EventBridge Scheduler User Guide, "Quotas"), of which 25 tenants a second use 50; STS takes some
 * 600 {@code AssumeRole} a second in an account and Region, which connections need as well. What
 * SQS takes of {@code CreateQueue} is not published; what it refuses, the control plane does again
 * within a minute. A tenant with a silo also costs several calls of Lambda's control plane, of
 * which there are 15 a second for all (AWS Lambda Developer Guide, "Lambda quotas"): 3 tenants a
 * second are enough there.
 */
public final class Throughput {
  private static final int MOST_PARALLEL = 64;
  private static final double MOST_RATE = 1_000;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description =
          "Changes under way at a time. Default: 32: a new tenant takes more than a second.")
  private int parallel = 32;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "Requests a second, at most. Default: 25; 3 is enough where tenants get a silo, since"
              + " AWS Lambda creates few functions a second.")
  private double rate = 25;

  /**
   * An API that is sent no more than the rate allows.
   *
   * @throws Failure if the rate cannot be right
   */
  public PacedApi paced(Sender api, Shell shell) {
    if (!(rate > 0 && rate <= MOST_RATE)) {
      throw Failure.usage("--rate: " + rate + " (expected: more than 0, at most 1000)");
    }
    if (parallel < 1 || parallel > MOST_PARALLEL) {
      throw Failure.usage("--parallel: " + parallel + " (expected: 1 to " + MOST_PARALLEL + ")");
    }
    return new PacedApi(api, new Pace(rate, shell.nanoTime()), shell);
  }

  /**
   * Does something with each item, several at a time, and waits until that is over.
   *
   * @param task says whether the items that are left are worth a try; what it throws ends the rest,
   *     too, and is thrown here
   * @return the items that were not begun
   */
  public <T> List<T> forEach(List<T> items, Predicate<T> task) {
    AtomicInteger begun = new AtomicInteger();
    AtomicBoolean goesOn = new AtomicBoolean(true);
    AtomicReference<@Nullable RuntimeException> thrown = new AtomicReference<>();
    int workers = Math.min(parallel, items.size());
    CountDownLatch done = new CountDownLatch(workers);
    for (int worker = 0; worker < workers; worker++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  while (goesOn.get()) {
                    int index = begun.getAndIncrement();
                    if (index >= items.size()) {
                      return;
                    }
                    if (!task.test(items.get(index))) {
                      goesOn.set(false);
                    }
                  }
                } catch (RuntimeException e) {
                  goesOn.set(false);
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
    return items.subList(Math.min(begun.get(), items.size()), items.size());
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

package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.ResizableExecutor;
import dev.tollgate.core.TenantId;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * Maintains buckets, many at a time. If services time out or throttle, it halves their number;
 * otherwise the number grows by one after every thousand buckets. So processes that together ask
 * more than a service takes come down to what it takes, and share that evenly: Chiu and Jain,
 * "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks",
 * 1989.
 *
 * <p>Failures of one tenant's buckets alone change nothing, so that they do not slow down those of
 * others.
 */
public final class AdaptiveExecutor implements Executor {
  /**
   * How many buckets are maintained at a time at first, and at most. A quiet bucket takes two
   * requests and a drained one four and more, of some 10 ms each: so many threads keep the
   * processor busy.
   */
  public static final int MOST = 32;

  /**
   * So many threads need less than half a minute for 1,250 drained buckets: twelve need 14.6 s, see
   * docs/scale.md.
   */
  static final int LEAST = 8;

  /**
   * After so many buckets with failures of fewer than {@link #FAILING} tenants, the number grows.
   * With three failures among a hundred buckets instead, eight times as many fills of 100,000
   * simulated tenants failed.
   */
  static final int SAMPLE = 1_000;

  /** After failures of so many tenants in a sample, the number is halved. */
  static final int FAILING = 5;

  private final ResizableExecutor threads;
  private int parallel = MOST;
  private int seen;
  private final Set<TenantId> failing = new HashSet<>();

  /** Runs tasks in {@code threads}, which has {@link #MOST} of them. */
  public AdaptiveExecutor(ResizableExecutor threads) {
    this.threads = threads;
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /** Counts a bucket that no service hindered. */
  synchronized void succeeded() {
    seen++;
    if (seen == SAMPLE) {
      restart(0, Math.min(MOST, parallel + 1));
    }
  }

  /** Counts a bucket of {@code tenant} for which a service was unavailable. */
  synchronized void failed(TenantId tenant) {
    if (seen >= 0) {
      failing.add(tenant);
    }
    if (failing.size() == FAILING) {
      // The others that are already being maintained say nothing about the lower number.
      restart(1 - parallel, Math.max(LEAST, parallel / 2));
    } else {
      succeeded();
    }
  }

  private void restart(int from, int next) {
    seen = from;
    failing.clear();
    if (next != parallel) {
      parallel = next;
      threads.resize(next);
    }
  }
}

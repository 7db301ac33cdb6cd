package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.fill.BucketFill.Skipped;
import dev.tollgate.core.bucket.fill.BucketMaintenance.MaintenanceResult;
import dev.tollgate.core.fanout.SelfInvocation;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Runs the {@linkplain BucketMaintenance maintenance} of all due buckets of a shard in parallel.
 *
 * <p>Every turn maintains the buckets in the same order. If its time runs out, it hands the rest to
 * another invocation, which continues where this one stopped. So a bucket's turns are a minute
 * apart, however many buckets the shard has, and a bucket that fails has one attempt a minute and
 * delays no other.
 */
public final class ShardMaintenance {
  /**
   * Two pages are under way at a time, so that threads do not wait for the end of a page. A smaller
   * page would let one slow bucket delay more of the others. An interrupted page goes on at the
   * first bucket that did not start: if services are slow, eight threads do not complete a page in
   * the 35 seconds of the token producer.
   */
  private static final int PAGE = 100;

  /**
   * How long the fill of one bucket may start further steps. So buckets that need longer, for
   * example after a change of their tier, delay the others by seconds.
   */
  private static final Duration LONGEST_FILL = Duration.ofSeconds(10);

  private final Buckets buckets;
  private final BucketMaintenance maintenance;
  private final SelfInvocation<ShardTurn> turns;
  private final AdaptiveExecutor executor;
  private final InstantSource clock;

  /**
   * Maintenance of the due buckets in {@code buckets}.
   *
   * @param turns takes the rest of a turn
   * @param executor limits how many buckets are maintained at a time; all turns of a process share
   *     it
   */
  public ShardMaintenance(
      Buckets buckets,
      BucketMaintenance maintenance,
      SelfInvocation<ShardTurn> turns,
      AdaptiveExecutor executor,
      InstantSource clock) {
    this.buckets = buckets;
    this.maintenance = maintenance;
    this.turns = turns;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Maintains the due buckets, or those that are left of a turn.
   *
   * @param end no bucket's maintenance starts after this instant
   * @param log receives a line for each failure
   * @throws Unavailable if not even the first due buckets can be listed
   */
  public Report run(ShardTurn turn, Instant end, Consumer<String> log) {
    Run run = new Run(turn, end, log);
    Optional<ShardTurn> left = run.all();
    Rest rest = left.map(unfinished -> handOver(unfinished, log)).orElse(Rest.NONE);
    return new Report(
        run.done.get(), run.failed.get(), Duration.ofMillis(run.lagMillis.get()), rest);
  }

  private Rest handOver(ShardTurn unfinished, Consumer<String> log) {
    Optional<ShardTurn> next = unfinished.next();
    try {
      next.ifPresent(turns::send);
      return next.isPresent() ? Rest.HANDED_OVER : Rest.LEFT;
    } catch (Unavailable unavailable) {
      log.accept("the rest of " + unfinished.shard() + ": " + unavailable);
      return Rest.LEFT;
    }
  }

  /** What became of the buckets for which a turn had no time. */
  public enum Rest {
    /** There are none. */
    NONE,
    /** Another invocation maintains them. */
    HANDED_OVER,
    /**
     * They wait for the next turn, because the turn had too many parts or Lambda is unavailable.
     */
    LEFT
  }

  /**
   * The result of a turn.
   *
   * @param done buckets whose maintenance succeeded
   * @param failed buckets whose maintenance failed, or whose fill was skipped
   * @param lag how long after its minute the last bucket was looked at
   */
  public record Report(long done, long failed, Duration lag, Rest rest) {}

  /** A page whose buckets are being maintained. */
  private record Part(
      ShardTurn from, List<BucketId> ids, AtomicInteger begun, CompletableFuture<Void> work) {
    /** Waits for the buckets; returns whether there was time for all. */
    boolean isCompleted() {
      work.join();
      return begun.get() == ids.size();
    }

    /** The buckets before the first one for which there was no time. */
    List<BucketId> begunIds() {
      return ids.subList(0, begun.get());
    }
  }

  private final class Run {
    private final ShardTurn turn;
    private final Instant end;
    private final Consumer<String> log;
    private final Instant listed = clock.instant();
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong lagMillis = new AtomicLong();

    private Run(ShardTurn turn, Instant end, Consumer<String> log) {
      this.turn = turn;
      this.end = end;
      this.log = log;
    }

    /** Maintains page after page; returns what is left. */
    private Optional<ShardTurn> all() {
      Page<BucketId> page = due(turn, PAGE);
      Part before = start(turn, page.items());
      while (page.next().isPresent()) {
        ShardTurn from = turn.from(page.next());
        try {
          page = due(from, PAGE);
        } catch (Unavailable unavailable) {
          log.accept("the buckets of " + turn.shard() + ": " + unavailable);
          return Optional.of(before.isCompleted() ? from : rest(before));
        }
        Part next = start(from, page.items());
        if (!before.isCompleted()) {
          next.work().join();
          return Optional.of(rest(before));
        }
        before = next;
      }
      return before.isCompleted() ? Optional.empty() : Optional.of(rest(before));
    }

    private Page<BucketId> due(ShardTurn from, int max) {
      return buckets.due(turn.shard(), listed, from.after(), max);
    }

    /**
     * What is left of an interrupted page. Only a list has cursors, so the buckets that had their
     * turn are listed again. If they are others now, or cannot be listed, the page is repeated.
     */
    private ShardTurn rest(Part interrupted) {
      List<BucketId> begun = interrupted.begunIds();
      if (begun.isEmpty()) {
        return interrupted.from();
      }
      try {
        Page<BucketId> again = due(interrupted.from(), begun.size());
        return again.items().equals(begun) && again.next().isPresent()
            ? turn.from(again.next())
            : interrupted.from();
      } catch (Unavailable unavailable) {
        log.accept("the buckets of " + turn.shard() + ": " + unavailable);
        return interrupted.from();
      }
    }

    private Part start(ShardTurn from, List<BucketId> ids) {
      AtomicInteger begun = new AtomicInteger(ids.size());
      return new Part(
          from,
          ids,
          begun,
          CompletableFuture.allOf(
              IntStream.range(0, ids.size())
                  .mapToObj(
                      i -> CompletableFuture.runAsync(() -> maintain(ids, i, begun), executor))
                  .toArray(CompletableFuture<?>[]::new)));
    }

    private void maintain(List<BucketId> ids, int i, AtomicInteger begun) {
      BucketId id = ids.get(i);
      Instant now = clock.instant();
      if (!now.isBefore(end)) {
        begun.accumulateAndGet(i, Math::min);
        return;
      }
      lagMillis.accumulateAndGet(Duration.between(turn.minute(), now).toMillis(), Math::max);
      try {
        MaintenanceResult result = maintenance.maintainInShard(id, now.plus(LONGEST_FILL));
        if (result.fill() instanceof Skipped skipped) {
          failed(id, "skipped, " + skipped.reason());
          executor.failed(id.tenant());
        } else {
          done.incrementAndGet();
          executor.succeeded();
        }
      } catch (MissingQueue missing) {
        failed(id, missing);
      } catch (Unavailable unavailable) {
        failed(id, unavailable);
        executor.failed(id.tenant());
      } catch (RuntimeException thrown) {
        failed(id, thrown);
      }
    }

    private void failed(BucketId id, Object cause) {
      failed.incrementAndGet();
      log.accept("bucket " + id + ": " + cause);
    }
  }
}

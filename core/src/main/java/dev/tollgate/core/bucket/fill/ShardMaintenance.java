package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Runs the {@linkplain BucketMaintenance maintenance} of all due buckets of a shard in parallel.
 */
public final class ShardMaintenance {
  private final Buckets buckets;
  private final BucketMaintenance maintenance;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Maintenance of the due buckets in {@code buckets}.
   *
   * @param executor limits how many buckets are maintained at a time
   */
  public ShardMaintenance(
      Buckets buckets, BucketMaintenance maintenance, Executor executor, InstantSource clock) {
    this.buckets = buckets;
    this.maintenance = maintenance;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Maintains the due buckets in random order, so that the same buckets are not skipped each time
   * if time runs out. A later run maintains the skipped buckets.
   *
   * @param end no bucket's maintenance starts after this instant
   * @param log receives a line for each bucket whose maintenance failed
   * @throws Unavailable if the due buckets cannot be listed
   */
  public Report run(Shard shard, Instant end, Consumer<String> log) {
    List<BucketId> due = new ArrayList<>(buckets.due(shard, clock.instant()));
    Collections.shuffle(due);
    AtomicLong done = new AtomicLong();
    AtomicLong failed = new AtomicLong();
    CompletableFuture<?>[] all =
        due.stream()
            .map(
                id ->
                    CompletableFuture.runAsync(
                        () -> {
                          if (!clock.instant().isBefore(end)) {
                            return;
                          }
                          try {
                            maintenance.maintainInShard(id);
                            done.incrementAndGet();
                          } catch (RuntimeException thrown) {
                            failed.incrementAndGet();
                            log.accept("bucket " + id + ": " + thrown);
                          }
                        },
                        executor))
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(all).join();
    return new Report(due.size(), done.get(), failed.get());
  }

  /**
   * The result for a shard.
   *
   * @param due buckets that were due
   * @param done buckets whose maintenance succeeded
   * @param failed buckets whose maintenance failed; the remaining ones were skipped for lack of
   *     time
   */
  public record Report(long due, long done, long failed) {}
}

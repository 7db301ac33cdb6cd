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
 * Takes the {@linkplain BucketMaintenance turns} of all due buckets of a shard, several at a time.
 */
public final class ShardMaintenance {
  private final Buckets buckets;
  private final BucketMaintenance turns;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * The turns of the due buckets in {@code buckets}.
   *
   * @param executor limits how many turns run at a time
   */
  public ShardMaintenance(
      Buckets buckets, BucketMaintenance turns, Executor executor, InstantSource clock) {
    this.buckets = buckets;
    this.turns = turns;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Takes the turns in random order, so that the same buckets are not skipped each time if time
   * runs out. A later turn does the work of skipped buckets.
   *
   * @param end no turn starts after this instant
   * @param log receives a line for each failed turn
   * @throws Unavailable if the due buckets cannot be listed
   */
  public Report take(Shard shard, Instant end, Consumer<String> log) {
    List<BucketId> due = new ArrayList<>(buckets.due(shard, clock.instant()));
    Collections.shuffle(due);
    AtomicLong taken = new AtomicLong();
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
                            turns.takeInShard(id);
                            taken.incrementAndGet();
                          } catch (RuntimeException thrown) {
                            failed.incrementAndGet();
                            log.accept("bucket " + id + ": " + thrown);
                          }
                        },
                        executor))
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(all).join();
    return new Report(due.size(), taken.get(), failed.get());
  }

  /**
   * The result for a shard.
   *
   * @param due buckets that were due
   * @param done buckets whose turn succeeded
   * @param failed buckets whose turn failed; the remaining ones were skipped for lack of time
   */
  public record Report(long due, long done, long failed) {}
}

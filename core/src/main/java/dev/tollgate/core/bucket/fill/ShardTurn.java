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

/** The turns of all the buckets of a shard that are due, several at a time. */
public final class ShardTurn {
  private final Buckets buckets;
  private final FillTurn turns;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Turns of the buckets that {@code buckets} says are due.
   *
   * @param executor bounds how many are taken at a time
   */
  public ShardTurn(Buckets buckets, FillTurn turns, Executor executor, InstantSource clock) {
    this.buckets = buckets;
    this.turns = turns;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Takes the turns, in an order that is another each time: should there not be time for all, none
   * is always left out, and what was due comes with a later turn.
   *
   * @param end when no further turn may be begun
   * @param log takes a line for each turn that failed
   * @throws Unavailable if it cannot be asked which buckets are due
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
   * What came of it.
   *
   * @param due buckets whose turn it was
   * @param done those that had it
   * @param failed those whose turn failed; the others had to wait for want of time
   */
  public record Report(long due, long done, long failed) {}
}

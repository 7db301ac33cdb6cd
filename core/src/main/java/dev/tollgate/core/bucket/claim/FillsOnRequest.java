package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Requests fills of buckets that claims find empty, hibernating or without a queue. A claim that
 * finds a bucket empty and without pending tokens stores an {@link EmptyHint} and requests a fill;
 * a claim on a hibernating bucket requests one too, and a claim in line shortly before the tokens
 * end. A failed request never admits a claim.
 */
final class FillsOnRequest {
  /** How long this process waits before it repeats a request. */
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  /** How long a claim waits for the acceptance of a request. */
  private static final Duration TIMEOUT = Duration.ofMillis(500);

  private final Buckets buckets;
  private final FillRequests fills;
  private final BucketMemory memory;
  private final Executor executor;
  private final InstantSource clock;

  FillsOnRequest(
      Buckets buckets,
      FillRequests fills,
      BucketMemory memory,
      Executor executor,
      InstantSource clock) {
    this.buckets = buckets;
    this.fills = fills;
    this.memory = memory;
    this.executor = executor;
    this.clock = clock;
  }

  /** A request that may be in progress. */
  static final class Sent {
    static final Sent NOTHING = new Sent(CompletableFuture.completedFuture(null));

    private final CompletableFuture<Void> request;

    private Sent(CompletableFuture<Void> request) {
      this.request = request;
    }

    /** Waits for the request. If it is not accepted in time, a later claim repeats it. */
    void await() {
      try {
        request.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException | TimeoutException notAccepted) {
        return;
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Requests a fill of a hibernating bucket. Waits for the fill if all its tokens have expired. */
  Sent wake(Bucket row, Instant now) {
    if (row.at(now).needsWaking()) {
      Unavailable.ignore(() -> fills.sendAndWait(row.id()));
      return Sent.NOTHING;
    }
    return row.isHibernating() ? request(row) : Sent.NOTHING;
  }

  /** Requests a fill of the bucket before its callers in line find it empty, if it is time. */
  void beforeLineEmpties(Bucket row) {
    if (row.at(clock.instant()).needsFill()) {
      request(row).await();
    }
  }

  /**
   * Stores that the bucket is empty, and requests a fill if no tokens are pending. Of several
   * claims that find the bucket empty, the first to store the hint requests the fill. If the row
   * cannot be written, a fill would fail too.
   *
   * @param heldByOthers tokens that other callers hold
   */
  Sent empty(Bucket row, Instant now, long heldByOthers) {
    return remember(row, row.at(now).hintWhenEmpty(heldByOthers)) ? tooFew(row, now) : Sent.NOTHING;
  }

  /** Requests a fill of a bucket with too few tokens, if none are pending. */
  Sent tooFew(Bucket row, Instant now) {
    return row.at(now).needsFill() ? request(row) : Sent.NOTHING;
  }

  /** Stores that the bucket has no queue, and requests a fill, which has the tenant reconciled. */
  void queueMissing(Bucket row, Instant now) {
    if (remember(row, row.at(now).hintWhenQueueMissing())) {
      request(row).await();
    }
  }

  /** Stores the hint; returns whether no other claim was faster. */
  private boolean remember(Bucket row, EmptyHint found) {
    memory.mark(row.id(), Mark.EMPTY, found.until());
    return Unavailable.orEmpty(() -> Optional.of(buckets.rememberEmpty(row, found)))
        .filter(WriteResult.DONE::equals)
        .isPresent();
  }

  /** Requests a fill of this version of the bucket, unless this process has just done so. */
  private Sent request(Bucket row) {
    return memory.requestFill(row.id(), row.version(), INTERVAL)
        ? new Sent(CompletableFuture.runAsync(() -> fills.send(row.id()), executor))
        : Sent.NOTHING;
  }
}

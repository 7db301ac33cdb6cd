package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.DirectFill;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.fill.BucketFill.Conflict;
import dev.tollgate.core.bucket.fill.BucketFill.FillResult;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.bucket.fill.BucketFill.NoBucket;
import dev.tollgate.core.bucket.fill.BucketFill.NotFilled;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.ReconcileRequests;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What is done for a bucket when its minute has come: it is filled, and what fills it is changed if
 * that is due. One that has stayed full is put to sleep, one that a claim found asleep is woken,
 * and one that is to be filled directly is brought there.
 *
 * <p>The bucket's row is changed first, and the schedule follows the row. Whoever has changed a
 * schedule reads the row once more, lest it has changed meanwhile; a schedule that fires though the
 * row says otherwise is put right; and a bucket that is not filled though its row says so is filled
 * when a claim finds it empty. So a crash at any point is mended by what comes next.
 *
 * <p>A bucket whose queue is missing has its tenant reconciled.
 */
public final class FillTurn {
  private static final Duration RENEWAL_LEASE = Duration.ofSeconds(30);

  private final Buckets buckets;
  private final TokenQueue tokens;
  private final BucketQueues queues;
  private final BucketSchedules schedules;
  private final BucketFill fill;
  private final ReconcileRequests reconciliation;
  private final InstantSource clock;

  /** Turns of buckets that are written down in {@code buckets}. */
  public FillTurn(
      Buckets buckets,
      TokenQueue tokens,
      BucketQueues queues,
      FillSchedules schedules,
      ReconcileRequests reconciliation,
      InstantSource clock) {
    this.buckets = buckets;
    this.tokens = tokens;
    this.queues = queues;
    this.schedules = new BucketSchedules(buckets, schedules);
    this.fill = new BucketFill(buckets, tokens, clock);
    this.reconciliation = reconciliation;
    this.clock = clock;
  }

  /**
   * The turn of a bucket whose schedule fired.
   *
   * @throws Unavailable if something cannot be asked; what was due comes with a later turn
   */
  public TurnResult take(BucketId id) {
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      schedules.follow(id, found);
      return new TurnResult(new NoBucket(), Optional.empty());
    }
    FillResult filled = reconciling(id, () -> fill.fill(found.get()));
    if (filled instanceof NotFilled) {
      schedules.follow(id, found);
    }
    return filled instanceof Filled topped
        ? after(topped)
        : new TurnResult(filled, Optional.empty());
  }

  /**
   * The turn of a bucket that its shard found to be due.
   *
   * @throws Unavailable as {@link #take}
   */
  public TurnResult takeInShard(BucketId id) {
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      return new TurnResult(new NoBucket(), Optional.empty());
    }
    if (found.get().fillState().state() == FillState.State.DIRECT) {
      return reconciling(id, () -> look(found.get()));
    }
    FillResult filled = reconciling(id, () -> fill.fill(found.get()));
    return filled instanceof Filled topped
        ? after(topped)
        : new TurnResult(filled, Optional.empty());
  }

  /**
   * Fills a bucket because a claim requested it, see {@link FillRequests}. A fill that was under
   * way may have found the bucket full and overtakes this one; then this one begins anew.
   *
   * @throws Unavailable as {@link #take}; a bucket that was woken by then stays awake
   */
  public TurnResult takeOnRequest(BucketId id) {
    TurnResult turn = takeOnRequestOnce(id);
    return turn.fill() instanceof Conflict ? takeOnRequestOnce(id) : turn;
  }

  private TurnResult takeOnRequestOnce(BucketId id) {
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      return new TurnResult(new NoBucket(), Optional.empty());
    }
    Bucket read = found.get();
    FillResult filled = reconciling(id, () -> fillOnRequest(read));
    boolean isNews = read.isHibernating() || read.isOverdueAt(clock.instant());
    if (filled instanceof Filled topped && isNews) {
      schedules.follow(id, Optional.of(topped.bucket()));
    }
    return new TurnResult(
        filled,
        filled instanceof Filled && read.isHibernating()
            ? Optional.of(FillState.State.PRODUCED)
            : Optional.empty());
  }

  /** A claim that found no queue requests a fill too, whether or not one is due. */
  private FillResult fillOnRequest(Bucket read) {
    FillResult filled = fill.fillOnRequest(read);
    if (filled instanceof NotFilled) {
      tokens.look(read.id());
    }
    return filled;
  }

  private <T> T reconciling(BucketId id, Supplier<T> work) {
    try {
      return work.get();
    } catch (MissingQueue missing) {
      reconciliation.request(id.tenant());
      throw missing;
    }
  }

  private TurnResult after(Filled topped) {
    Bucket bucket = topped.bucket();
    Instant now = clock.instant();
    if (bucket.isDueToHibernateAt(now)) {
      return new TurnResult(topped, enter(bucket, bucket.hibernating(now)));
    }
    if (bucket.spec().fillPolicy().mode() != FillMode.DIRECT) {
      return new TurnResult(topped, Optional.empty());
    }
    renew(bucket, bucket.spec().rate().ceiling() - topped.minted());
    Duration lifetime = bucket.tokenLifetimeAt(now);
    if (lifetime.compareTo(DirectFill.LONGEST_LIFETIME) < 0) {
      queues.setLifetime(bucket.id(), lifetime);
    }
    return new TurnResult(
        topped,
        bucket.isReadyForDirectAt(now) ? enter(bucket, bucket.direct(now)) : Optional.empty());
  }

  /** Looks at a bucket that its schedule fills. */
  private TurnResult look(Bucket bucket) {
    Instant now = clock.instant();
    Bucket seen = bucket.inspected(tokens.level(bucket.id()), now);
    Bucket next = seen.isDueToHibernateAt(now) ? bucket.hibernating(now) : seen;
    return new TurnResult(
        new NotFilled(bucket.fillState().state()),
        next.isHibernating() ? enter(bucket, next) : written(next));
  }

  private Optional<FillState.State> written(Bucket next) {
    buckets.replace(next);
    return Optional.empty();
  }

  /** Writes down who fills the bucket from now on, and has the schedule follow. */
  private Optional<FillState.State> enter(Bucket before, Bucket next) {
    if (buckets.replace(next) == WriteResult.CONFLICT) {
      return Optional.empty();
    }
    if (!next.hasSameScheduleAs(before)) {
      schedules.follow(next.id(), Optional.of(next));
    }
    return Optional.of(next.fillState().state());
  }

  /**
   * Replaces up to so many of the oldest tokens by new ones. They are spent first, so that a crash
   * loses tokens and makes none.
   */
  private void renew(Bucket bucket, long most) {
    if (most <= 0) {
      return;
    }
    BucketId id = bucket.id();
    List<Lease> old =
        tokens.reserve(id, (int) Math.min(most, TokenQueue.BATCH), RENEWAL_LEASE, Search.SHORT);
    int spent = old.isEmpty() ? 0 : old.size() - tokens.settle(id, old).size();
    if (spent > 0) {
      Instant now = clock.instant();
      tokens.put(
          id,
          Stream.generate(() -> new Token(UUID.randomUUID().toString(), id, now, now))
              .limit(spent)
              .toList());
    }
  }

  /**
   * What was done.
   *
   * @param fill what the bucket was given
   * @param newState who fills it from now on, if that has changed
   */
  public record TurnResult(FillResult fill, Optional<FillState.State> newState) {}
}

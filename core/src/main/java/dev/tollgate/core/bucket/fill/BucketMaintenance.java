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
 * The periodic work for one bucket: fills it, and changes what fills it if that is due. A bucket
 * that stayed full starts to hibernate, a claim wakes a hibernating bucket ({@link
 * dev.tollgate.core.bucket.Forecast#needsWaking} decides whether the claim waits for that, {@link
 * dev.tollgate.core.bucket.Forecast#needsFill} whether its request is followed), and a bucket with
 * direct filling is prepared for it and then left to its schedule.
 *
 * <p>The row is changed first, and then the schedule. After a change of the schedule the row is
 * read again, in case another process changed it. If a schedule fires although the row disables it,
 * the schedule is corrected. If a bucket is not filled although its row requires it, a claim that
 * finds the bucket empty requests a fill. So the next event repairs the effect of a crash at any
 * point.
 *
 * <p>If a bucket's queue is missing, its tenant is marked for reconciliation.
 */
public final class BucketMaintenance {
  private static final Duration RENEWAL_LEASE = Duration.ofSeconds(30);

  private final Buckets buckets;
  private final TokenQueue tokens;
  private final BucketQueues queues;
  private final BucketSchedules schedules;
  private final BucketFill fill;
  private final ReconcileRequests reconciliation;
  private final InstantSource clock;

  /** Maintenance of the buckets in {@code buckets}. */
  public BucketMaintenance(
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
   * Maintains a bucket whose schedule fired.
   *
   * @param until as in {@link BucketFill#fill(BucketId, Instant)}
   * @throws Unavailable if a port fails; the next run continues the work
   */
  public MaintenanceResult maintain(BucketId id, Instant until) {
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      schedules.follow(id, found);
      return new MaintenanceResult(new NoBucket(), Optional.empty());
    }
    FillResult result = reconciling(id, () -> fill.fill(found.get(), until));
    if (result instanceof NotFilled) {
      schedules.follow(id, found);
    }
    return result instanceof Filled filled
        ? after(filled)
        : new MaintenanceResult(result, Optional.empty());
  }

  /**
   * Maintains a bucket that is due in its shard.
   *
   * @param until as in {@link #maintain}
   * @throws Unavailable as {@link #maintain}
   */
  public MaintenanceResult maintainInShard(BucketId id, Instant until) {
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      return new MaintenanceResult(new NoBucket(), Optional.empty());
    }
    if (found.get().fillState().state() == FillState.State.DIRECT) {
      return reconciling(id, () -> inspect(found.get()));
    }
    FillResult result = reconciling(id, () -> fill.fill(found.get(), until));
    return result instanceof Filled filled
        ? after(filled)
        : new MaintenanceResult(result, Optional.empty());
  }

  /**
   * Fills a bucket because a claim requested it, see {@link FillRequests}. If a concurrent fill,
   * which found the bucket full, causes a conflict, this one is repeated.
   *
   * @param until as in {@link #maintain}
   * @throws Unavailable as {@link #maintain}; a bucket that was woken before the failure stays
   *     awake
   */
  public MaintenanceResult maintainOnRequest(BucketId id, Instant until) {
    MaintenanceResult result = maintainOnRequestOnce(id, until);
    return result.fill() instanceof Conflict ? maintainOnRequestOnce(id, until) : result;
  }

  private MaintenanceResult maintainOnRequestOnce(BucketId id, Instant until) {
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      return new MaintenanceResult(new NoBucket(), Optional.empty());
    }
    Bucket read = found.get();
    FillResult result = reconciling(id, () -> fillOnRequest(read, until));
    boolean mustUpdateSchedule = read.isHibernating() || read.isOverdueAt(clock.instant());
    if (result instanceof Filled filled && mustUpdateSchedule) {
      schedules.follow(id, Optional.of(filled.bucket()));
    }
    return new MaintenanceResult(
        result,
        result instanceof Filled && read.isHibernating()
            ? Optional.of(FillState.State.PRODUCED)
            : Optional.empty());
  }

  /**
   * Fills the bucket, or else checks that its queue exists: a claim that found no queue requests a
   * fill even if none is due.
   */
  private FillResult fillOnRequest(Bucket read, Instant until) {
    FillResult filled = fill.fillOnRequest(read, until);
    if (filled instanceof NotFilled) {
      tokens.countTokens(read.id());
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

  private MaintenanceResult after(Filled filled) {
    Bucket bucket = filled.bucket();
    Instant now = clock.instant();
    if (bucket.isDueToHibernateAt(now)) {
      return new MaintenanceResult(filled, enter(bucket, bucket.hibernating(now)));
    }
    if (bucket.spec().fillPolicy().mode() != FillMode.DIRECT) {
      return new MaintenanceResult(filled, Optional.empty());
    }
    renew(bucket, bucket.spec().rate().ceiling() - filled.minted());
    Duration lifetime = bucket.tokenLifetimeAt(now);
    if (lifetime.compareTo(DirectFill.LONGEST_LIFETIME) < 0) {
      queues.setLifetime(bucket.id(), lifetime);
    }
    return new MaintenanceResult(
        filled,
        bucket.isReadyForDirectAt(now) ? enter(bucket, bucket.direct(now)) : Optional.empty());
  }

  /** Inspects a bucket that its schedule fills directly. */
  private MaintenanceResult inspect(Bucket bucket) {
    Instant now = clock.instant();
    Bucket seen = bucket.inspected(tokens.level(bucket.id()), now);
    Bucket next = seen.isDueToHibernateAt(now) ? bucket.hibernating(now) : seen;
    return new MaintenanceResult(
        new NotFilled(bucket.fillState().state()),
        next.isHibernating() ? enter(bucket, next) : written(next));
  }

  private Optional<FillState.State> written(Bucket next) {
    buckets.replace(next);
    return Optional.empty();
  }

  /** Stores what fills the bucket from now on, and updates the schedule. */
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
   * Replaces up to {@code max} of the oldest tokens with new ones. Spends the old ones first, so
   * that a crash loses tokens and creates none.
   */
  private void renew(Bucket bucket, long max) {
    if (max <= 0) {
      return;
    }
    BucketId id = bucket.id();
    List<Lease> old =
        tokens.reserve(id, (int) Math.min(max, TokenQueue.BATCH), RENEWAL_LEASE, Search.SHORT);
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
   * The result of maintaining a bucket.
   *
   * @param fill the result of the fill
   * @param newState what fills the bucket from now on, if that changed
   */
  public record MaintenanceResult(FillResult fill, Optional<FillState.State> newState) {}
}

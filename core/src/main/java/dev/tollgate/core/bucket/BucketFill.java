package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Fills a bucket up to its capacity: reads the level, moves the ledger forward, sends the tokens.
 * The ledger moves first, and only if nobody else moved it, so that a schedule that fires twice, or
 * a retry, mints nothing.
 */
public final class BucketFill {
  private static final Duration TRIM_LEASE = Duration.ofSeconds(30);
  private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

  private final Buckets buckets;
  private final TokenQueue queue;
  private final InstantSource clock;

  /**
   * A fill of buckets that are written down in {@code buckets} and whose tokens lie in {@code
   * queue}.
   */
  public BucketFill(Buckets buckets, TokenQueue queue, InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
    this.clock = clock;
  }

  /**
   * Gives the bucket what it is owed at {@code through}, and takes out what is more than its
   * capacity.
   *
   * @param through the instant for which a schedule fired; one that lies more than a minute ahead
   *     counts as now
   * @throws Unavailable if the ledger or the queue cannot be asked; what was due then comes with a
   *     later fill
   */
  public Filled fill(BucketId id, Instant through) {
    return buckets.find(id).map(bucket -> fill(bucket, through)).orElseGet(NoBucket::new);
  }

  /** The same of a bucket that has been read just now. */
  public Filled fill(Bucket read, Instant through) {
    Instant now = clock.instant();
    return read.upkeep().state() == Upkeep.State.PRODUCED
        ? fill(read, false, through.isAfter(now.plus(CLOCK_SKEW)) ? now : through)
        : new NotFilled(read.upkeep().state());
  }

  /**
   * Has a bucket that hibernates, or is overdue, filled again, and gives it what it is owed now, at
   * once. Whoever finds it hibernating does so before spending any of its tokens; so what it lacks
   * is what has expired. A bucket that is awake is left alone: somebody is just filling it.
   *
   * @throws Unavailable if the ledger or the queue cannot be asked
   */
  public Filled wake(Bucket read) {
    Instant now = clock.instant();
    return read.hibernates() || read.isOverdueAt(now)
        ? fill(read.awake(now), true, now)
        : new NotFilled(read.upkeep().state());
  }

  private Filled fill(Bucket read, boolean awakened, Instant until) {
    Instant now = clock.instant();
    BucketId id = read.id();
    Bucket bucket = read;
    boolean mustWrite = awakened;
    long level = bucket.levelAt(now, queue.look(id));
    long trimmed = trim(bucket, level - bucket.spec().capacity());
    level -= trimmed;
    long minted = 0;
    long lost = 0;
    while (true) {
      Ledger.Step step = step(bucket, until, level);
      if (step.tokens() == 0 && step.after().equals(bucket.ledger()) && !mustWrite) {
        return new Topped(bucket, minted, lost, trimmed, level);
      }
      Bucket next = bucket.filled(step, level, now);
      if (buckets.replace(next) == Written.OVERTAKEN) {
        return minted == 0 ? new Overtaken() : new Topped(bucket, minted, lost, trimmed, level);
      }
      bucket = next;
      mustWrite = false;
      long unsent = send(bucket, step, now);
      minted += step.tokens() - unsent;
      lost += unsent;
      level += step.tokens() - unsent;
      if (step.complete()) {
        return new Topped(bucket, minted, lost, trimmed, level);
      }
    }
  }

  /** Tokens that are to last for a minute only must not be hidden for most of it. */
  private static Ledger.Step step(Bucket bucket, Instant until, long level) {
    Ledger.Step step = bucket.ledger().step(bucket.spec(), until, level);
    return bucket.spec().filling().mode() == FillMode.DIRECT ? step.atOnce() : step;
  }

  /**
   * Sends a step's tokens, the fresh ones spread over the minute; returns how many could not be
   * sent.
   */
  private long send(Bucket bucket, Ledger.Step step, Instant now) {
    List<Token> tokens = new ArrayList<>();
    Drip drip = new Drip(now, step.fresh(), Duration.ZERO);
    long atOnce = step.tokens() - step.fresh();
    for (long i = 0; i < step.tokens(); i++) {
      int delay = i < atOnce ? 0 : drip.delaySeconds(i - atOnce);
      tokens.add(new Token(UUID.randomUUID().toString(), bucket.id(), now, delay));
    }
    return queue.put(bucket.id(), tokens).size();
  }

  /**
   * Spends tokens that a smaller capacity has no room for; hidden and held ones wait for a later
   * fill.
   */
  private long trim(Bucket bucket, long surplus) {
    long trimmed = 0;
    while (trimmed < surplus) {
      int most = (int) Math.min(TokenQueue.BATCH, surplus - trimmed);
      List<Lease> leases = queue.reserve(bucket.id(), most, TRIM_LEASE);
      if (leases.isEmpty()) {
        return trimmed;
      }
      Set<Lease> unspent = new HashSet<>(queue.settle(bucket.id(), leases));
      trimmed += leases.size() - unspent.size();
      if (!unspent.isEmpty()) {
        return trimmed;
      }
    }
    return trimmed;
  }

  /** What a fill did. */
  public sealed interface Filled {}

  /**
   * The bucket has what it was owed.
   *
   * @param bucket as it was written last
   * @param minted tokens sent
   * @param lost tokens that the queue refused to take; the ledger has moved past them
   * @param trimmed tokens taken out because the capacity has no room for them
   * @param level tokens in the bucket now
   */
  public record Topped(Bucket bucket, long minted, long lost, long trimmed, long level)
      implements Filled {
    /** Without the bucket, for logs. */
    @Override
    public String toString() {
      return "Topped[minted=%d, lost=%d, trimmed=%d, level=%d]"
          .formatted(minted, lost, trimmed, level);
    }
  }

  /** Another fill of the same bucket was faster; this one minted nothing. */
  public record Overtaken() implements Filled {}

  /**
   * The bucket is not filled at present, or not by this.
   *
   * @param state who fills it, if anybody does
   */
  public record NotFilled(Upkeep.State state) implements Filled {}

  /** There is no such bucket: its tenant was offboarded, and the schedule fired late. */
  public record NoBucket() implements Filled {}
}

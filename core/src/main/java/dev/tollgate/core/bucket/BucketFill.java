package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
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
    Optional<Bucket> found = buckets.find(id);
    if (found.isEmpty()) {
      return new NoBucket();
    }
    Bucket bucket = found.get();
    Instant now = clock.instant();
    Instant until = through.isAfter(now.plus(CLOCK_SKEW)) ? now : through;
    long level = bucket.levelAt(now, queue.level(id));
    long trimmed = trim(bucket, level - bucket.spec().capacity());
    level -= trimmed;
    long minted = 0;
    long lost = 0;
    while (true) {
      Ledger.Step step = bucket.ledger().step(bucket.spec(), until, level);
      if (step.tokens() == 0 && step.after().equals(bucket.ledger())) {
        return new Topped(minted, lost, trimmed, level);
      }
      Bucket next = bucket.filled(step, level, now);
      if (buckets.replace(next) == Written.OVERTAKEN) {
        return minted == 0 ? new Overtaken() : new Topped(minted, lost, trimmed, level);
      }
      bucket = next;
      long unsent = send(bucket, step, now);
      minted += step.tokens() - unsent;
      lost += unsent;
      level += step.tokens() - unsent;
      if (step.complete()) {
        return new Topped(minted, lost, trimmed, level);
      }
    }
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
   * @param minted tokens sent
   * @param lost tokens that the queue refused to take; the ledger has moved past them
   * @param trimmed tokens taken out because the capacity has no room for them
   * @param level tokens in the bucket now
   */
  public record Topped(long minted, long lost, long trimmed, long level) implements Filled {}

  /** Another fill of the same bucket was faster; this one minted nothing. */
  public record Overtaken() implements Filled {}

  /** There is no such bucket: its tenant was offboarded, and the schedule fired late. */
  public record NoBucket() implements Filled {}
}

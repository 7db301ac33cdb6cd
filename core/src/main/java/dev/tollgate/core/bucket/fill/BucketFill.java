package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Ledger;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.LongStream;

/**
 * Fills a bucket: reads the level, moves the ledger forward, and sends the tokens. It sends the
 * owed tokens at once and those that become due until the next fill with a delay. It never sends
 * more than the bucket has room for.
 *
 * <p>The ledger is written first, with a condition on its version. So a schedule that fires twice,
 * or a retry, mints nothing twice. Tokens that the queue rejects are owed again. Tokens whose
 * sending has an unknown result may be lost, at most one minute's.
 *
 * <p>If the level cannot be read, nothing is minted: each token might exceed the capacity. What the
 * bucket is owed stays in the ledger, for the next fill. Such a fill is skipped and does not fail,
 * because AWS does not document how many requests for queues' attributes it takes. A bucket that
 * has missed several fills fails.
 */
public final class BucketFill {
  private static final Duration TRIM_LEASE = Duration.ofSeconds(30);

  /** How long a fill removes void tokens before it mints new ones. */
  private static final Duration TRIM_TIME = Duration.ofSeconds(10);

  private final Buckets buckets;
  private final TokenQueue queue;
  private final InstantSource clock;

  /** Fills the buckets in {@code buckets}, whose tokens are in {@code queue}. */
  public BucketFill(Buckets buckets, TokenQueue queue, InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
    this.clock = clock;
  }

  /**
   * Sends the bucket the tokens that are due until the next fill ({@link Ledger#step}), and removes
   * tokens beyond its capacity.
   *
   * @throws Unavailable if the ledger or the queue fails; if only the level cannot be read, not
   *     before several fills were missed
   */
  public FillResult fill(BucketId id) {
    return fill(id, Instant.MAX);
  }

  /**
   * Fills a bucket as {@link #fill(BucketId)} does, within a time.
   *
   * @param until no further step starts after this instant; the next fill continues
   */
  public FillResult fill(BucketId id, Instant until) {
    return buckets.find(id).map(read -> fill(read, until)).orElseGet(NoBucket::new);
  }

  /** Fills a bucket that was just read. */
  FillResult fill(Bucket read, Instant until) {
    return read.fillState().state() == FillState.State.PRODUCED
        ? fill(read, read, until)
        : new NotFilled(read.fillState().state());
  }

  /**
   * Fills a bucket because a claim requested it. Wakes the bucket if it hibernates. Does nothing if
   * tokens are pending, because another request was faster.
   *
   * @param until as in {@link #fill(BucketId, Instant)}
   * @throws Unavailable if the ledger or the queue fails
   */
  public FillResult fillOnRequest(Bucket read, Instant until) {
    Instant now = clock.instant();
    if (!read.at(now).needsFill()) {
      return new NotFilled(read.fillState().state());
    }
    return fill(read, read.isHibernating() ? read.woken(now) : read, until);
  }

  private FillResult fill(Bucket read, Bucket awake, Instant until) {
    Instant now = clock.instant();
    TokenQueue.Level reported;
    try {
      reported = queue.countTokens(read.id());
    } catch (MissingQueue missing) {
      throw missing;
    } catch (Unavailable unavailable) {
      if (read.isOverdueAt(now)) {
        throw unavailable;
      }
      return new Skipped(unavailable.reason());
    }
    FillResult result = fill(read, awake, reported, now, until);
    if (result instanceof Filled filled) {
      countSpare(filled.bucket(), read.availableIn(reported, now), now);
    }
    return result;
  }

  private FillResult fill(
      Bucket read, Bucket awake, TokenQueue.Level reported, Instant now, Instant until) {
    Bucket bucket = awake;
    boolean mustWrite = !awake.equals(read);
    long surplus = read.surplusAt(reported, now);
    long most = read.mostTrimmedAt(now);
    long level = read.levelAt(reported, now);
    long trimmed = 0;
    long part;
    do {
      part = trim(bucket, Math.min(most, surplus - trimmed), now, until);
      trimmed += part;
      level = Math.max(0, level - part);
      Bucket less = bucket.trimmed(part, now);
      mustWrite |= !less.equals(bucket);
      bucket = less;
      if (part == most) {
        bucket = bucket.inspected(level, now);
        if (buckets.replace(bucket) == WriteResult.CONFLICT) {
          return new Conflict();
        }
        mustWrite = false;
      }
    } while (part == most);
    long minted = 0;
    while (true) {
      Ledger.Step step = bucket.step(now, level);
      Bucket next = bucket.filled(step, level, now);
      if (!mustWrite && next.differsOnlyInVersionFrom(bucket)) {
        return new Filled(bucket, minted, 0, trimmed, level);
      }
      if (buckets.replace(next) == WriteResult.CONFLICT) {
        return minted == 0 ? new Conflict() : new Filled(bucket, minted, 0, trimmed, level);
      }
      long unsent = step.tokens() == 0 ? 0 : send(tokens(bucket, step, now), next, now);
      mustWrite = false;
      minted += step.tokens() - unsent;
      level += step.tokens() - unsent;
      bucket = next;
      if (unsent > 0) {
        Bucket owing = next.withUnsent(unsent, now);
        boolean owed = buckets.replace(owing) == WriteResult.DONE;
        return new Filled(owed ? owing : next, minted, unsent, trimmed, level);
      }
      if (step.complete() || isOver(until)) {
        return new Filled(bucket, minted, 0, trimmed, level);
      }
    }
  }

  /**
   * Returns how many tokens the queue rejected. If the queue is missing, no token was sent, and all
   * stay owed: SQS may not know a new queue everywhere yet.
   */
  private long send(List<Token> tokens, Bucket written, Instant now) {
    try {
      return queue.put(written.id(), tokens).size();
    } catch (MissingQueue missing) {
      buckets.replace(written.withUnsent(tokens.size(), now));
      throw missing;
    }
  }

  /**
   * Records the tokens that nobody in line needs. If the line has changed, or cannot be written,
   * the next fill counts them.
   */
  private void countSpare(Bucket filled, long available, Instant now) {
    Optional<Line> counted = filled.lineCounted(available, now);
    if (filled.at(now).line().isPresent() && !counted.equals(filled.line())) {
      try {
        buckets.changeLine(filled.id(), filled.line(), counted.orElseThrow());
      } catch (Unavailable unavailable) {
        // The bucket is filled all the same.
      }
    }
  }

  private static List<Token> tokens(Bucket before, Ledger.Step step, Instant now) {
    Instant mintedAt = step.mintedAt(now);
    return LongStream.range(0, step.tokens())
        .mapToObj(i -> before.dueAt(now, i))
        .map(due -> new Token(UUID.randomUUID().toString(), before.id(), mintedAt, due))
        .toList();
  }

  private boolean isOver(Instant until) {
    return !clock.instant().isBefore(until);
  }

  /**
   * Spends visible tokens beyond the capacity, and void ones. A later fill removes delayed and held
   * ones, and claims remove void ones that are left.
   */
  private long trim(Bucket bucket, long surplus, Instant now, Instant until) {
    // Claims do not wait for the removal of tokens that they would not accept.
    Instant latest = bucket.hasVoidTokensAt(now) ? now.plus(TRIM_TIME) : Instant.MAX;
    Predicate<Lease> isSurplus = bucket.surplusTokens(now);
    Predicate<Lease> isCounted = bucket.countedSurplus(now);
    long trimmed = 0;
    while (trimmed < surplus && !isOver(until) && !isOver(latest)) {
      int max = (int) Math.min(TokenQueue.BATCH, surplus - trimmed);
      List<Lease> leases = queue.reserve(bucket.id(), max, TRIM_LEASE, TokenQueue.Search.SHORT);
      List<Lease> removed = leases.stream().filter(isSurplus).toList();
      List<Lease> others = leases.stream().filter(isSurplus.negate()).toList();
      if (!others.isEmpty()) {
        queue.giveBack(bucket.id(), others);
      }
      Set<Lease> unspent =
          removed.isEmpty() ? Set.of() : new HashSet<>(queue.settle(bucket.id(), removed));
      trimmed += removed.stream().filter(isCounted).filter(each -> !unspent.contains(each)).count();
      if (removed.isEmpty() || !unspent.isEmpty()) {
        return trimmed;
      }
    }
    return trimmed;
  }

  /** The result of a fill. */
  public sealed interface FillResult {}

  /**
   * The bucket received what it was owed.
   *
   * @param bucket the bucket as last written
   * @param minted tokens sent, including delayed ones
   * @param unsent tokens that the queue rejected; the next fill sends them
   * @param trimmed tokens removed because they exceeded the capacity
   * @param level tokens in the bucket now, including delayed ones
   */
  public record Filled(Bucket bucket, long minted, long unsent, long trimmed, long level)
      implements FillResult {
    /** The numbers without the bucket, for logs. */
    @Override
    public String toString() {
      return "Filled[minted=%d, unsent=%d, trimmed=%d, level=%d]"
          .formatted(minted, unsent, trimmed, level);
    }
  }

  /**
   * The level could not be read; this fill minted nothing, and the next one mints what is owed.
   *
   * @param reason why not
   */
  public record Skipped(String reason) implements FillResult {}

  /** A concurrent fill of the same bucket was faster; this one minted nothing. */
  public record Conflict() implements FillResult {}

  /**
   * The token producer does not fill the bucket at present, or no fill is due.
   *
   * @param state what fills it, if anything
   */
  public record NotFilled(FillState.State state) implements FillResult {}

  /** The bucket does not exist: the schedule fired after its tenant was offboarded. */
  public record NoBucket() implements FillResult {}
}

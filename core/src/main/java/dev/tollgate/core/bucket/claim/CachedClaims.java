package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Request;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The claims of a process that lives long. It keeps the rows that it has read, so most claims need
 * few requests. The rows are in the {@link BucketMemory}.
 *
 * <h2>Admitted</h2>
 *
 * A claim receives its tokens at the same time as it reads the bucket's row. While the row is
 * younger than {@link #ROW_LIFE} it is not read again: the claim receives and spends. If that finds
 * too few tokens, the claim reads the row before it decides. So every write and every place in line
 * follows from a row just read, and every refusal but those below. After a refusal, claims read
 * first for {@link #REFUSAL_LIFE}.
 *
 * <p>A claim without a new row can only take tokens that are in the bucket. What the row may have
 * become since:
 *
 * <ul>
 *   <li><b>Hibernating.</b> The claim takes a token and does not wake the bucket. The next claim
 *       reads that the bucket hibernates, and wakes it. No claim is admitted by a kept row of a
 *       bucket that hibernates.
 *   <li><b>Suspended.</b> Nothing fills the bucket. Its last tokens may be claimed, before and
 *       after.
 *   <li><b>Another rate or capacity.</b> Only fills know them. A claim for more tokens than the
 *       capacity fails once the row is read.
 *   <li><b>A line.</b> Its callers are promised the next tokens. So a row admits later claims only
 *       while nobody has ever waited in the bucket's line; afterwards each claim reads it, still at
 *       the same time as it receives. The first line of a bucket begins with up to a second in
 *       which other processes may take its tokens; its callers then come back once more, as for
 *       late tokens. A line that was enabled again counts as used, so its row is always read.
 *   <li><b>Deleted.</b> The queue is missing, or its tokens can be claimed for the second.
 * </ul>
 *
 * <h2>Refused</h2>
 *
 * While the row that was read last has a valid {@link dev.tollgate.core.bucket.EmptyHint}, or a
 * line whose next slot has not come, a claim is refused without any request: until the hint or the
 * wait ends, and for {@link #REFUSAL_LIFE} at most, because a fill may add tokens that this process
 * does not hear of. A claim that must write, because it takes a place or a spare token, reads the
 * row.
 *
 * <h2>Prefetched</h2>
 *
 * Claims of one token may be served from {@link Prefetch}.
 */
public final class CachedClaims {
  /** How long a row is used for claims that find their tokens. */
  public static final Duration ROW_LIFE = Duration.ofSeconds(1);

  /** How long a row is used to refuse claims. */
  public static final Duration REFUSAL_LIFE = Duration.ofSeconds(5);

  private final Function<BucketId, Bucket> reader;
  private final Claims claims;
  private final Optional<Prefetch> prefetch;
  private final Executor executor;
  private final InstantSource clock;
  private final Duration rowLife;
  private final Duration refusalLife;
  private final boolean oneByOne;
  private final BucketMemory memory;

  /**
   * Claims that read rows with {@code reader}.
   *
   * @param reader reads a bucket; throws an exception if it does not exist
   * @param claims claims tokens by a row just read
   * @param prefetch prefetches tokens for claims to come; empty if none are prefetched
   * @param executor runs a read while its caller receives tokens
   */
  public CachedClaims(
      Function<BucketId, Bucket> reader,
      Claims claims,
      Optional<Prefetch> prefetch,
      Executor executor,
      InstantSource clock) {
    this(reader, claims, prefetch, executor, clock, ROW_LIFE, REFUSAL_LIFE, false);
  }

  private CachedClaims(
      Function<BucketId, Bucket> reader,
      Claims claims,
      Optional<Prefetch> prefetch,
      Executor executor,
      InstantSource clock,
      Duration rowLife,
      Duration refusalLife,
      boolean oneByOne) {
    this.reader = reader;
    this.claims = claims;
    this.prefetch = prefetch;
    this.executor = executor;
    this.clock = clock;
    this.rowLife = rowLife;
    this.refusalLife = refusalLife;
    this.oneByOne = oneByOne;
    this.memory = claims.memory();
  }

  /**
   * The same claims, which keep no rows, and run one by one for a bucket. So what one of them tries
   * and gives back refuses no other, and their results do not depend on threads.
   */
  public CachedClaims oneByOne() {
    return new CachedClaims(
        reader, claims, prefetch, executor, clock, Duration.ZERO, Duration.ZERO, true);
  }

  /**
   * Spends n tokens, or none, for a caller that takes no place, see {@link Claims#spend(Bucket,
   * int, Attempt)}.
   *
   * @param n 1 to the bucket's capacity, at most 10,000
   */
  public ClaimResult spend(BucketId id, int n) {
    boolean isPrefetched =
        n == 1 && prefetch.filter(known -> known.take(id, () -> rowForPrefetch(id))).isPresent();
    return isPrefetched
        ? new ClaimResult.Granted(id, List.of())
        : claim(
            id,
            n,
            Claims.leaseToSpend(n),
            row -> refusal(row, Request.withoutPlace(n)),
            (row, first) -> claims.spend(row, n, first));
  }

  /**
   * Spends one token for a caller that may wait in line.
   *
   * @param place the caller's place in a row's line, unless it cannot be used
   * @param claim claims a token, as with {@link Claims#spend(Bucket, LineCaller, Attempt)}
   */
  public ClaimResult spendInLine(
      BucketId id,
      Function<Bucket, Optional<Place>> place,
      BiFunction<Bucket, Attempt, ClaimResult> claim) {
    return claim(
        id, 1, Claims.LEASE, row -> refusal(row, new Request(1, place.apply(row), true)), claim);
  }

  /**
   * Holds n tokens, or none, for a caller that takes no place.
   *
   * @param n 1 to the bucket's capacity, at most 10,000
   */
  public ClaimResult hold(BucketId id, int n, Duration lease) {
    return claim(
        id,
        n,
        lease,
        row -> refusal(row, Request.withoutPlace(n)),
        (row, first) -> claims.hold(row, n, first));
  }

  /**
   * Spends the available tokens, up to n; at most one while others wait in line.
   *
   * @param n 1 to 10,000
   */
  public SpendResult spendUpTo(BucketId id, int n) {
    return claim(
        id,
        n,
        Claims.leaseToSpend(n),
        row -> {
          boolean isInLine = row.at(clock.instant()).line().isPresent();
          return refusal(row, Request.withoutPlace(isInLine ? 1 : n))
              .map(refused -> new SpendResult(0, Optional.of(refused)));
        },
        (row, first) -> claims.spendUpTo(row, n, first));
  }

  private Optional<ClaimResult.Denied> refusal(Bucket known, Request request) {
    return ClaimPolicy.refusal(known.at(clock.instant()), request);
  }

  /** Returns the prefetched tokens. Claims use them no more. */
  public void close() {
    prefetch.ifPresent(Prefetch::close);
  }

  /**
   * Claims n tokens.
   *
   * @param refusal the refusal of this claim, if it follows from a row read a while ago
   * @param decide decides, with a row and the tokens received so far
   */
  private <T> T claim(
      BucketId id,
      int n,
      Duration lease,
      Function<Bucket, Optional<? extends T>> refusal,
      BiFunction<Bucket, Attempt, T> decide) {
    return memory
        .row(id, refusalLife)
        .filter(row -> n <= row.spec().capacity())
        .flatMap(row -> refusal.apply(row).<T>map(refused -> refused))
        .orElseGet(
            () ->
                oneByOne
                    ? claims.locked(id, () -> ask(id, n, lease, decide))
                    : claims.oneByOne(id, n, () -> ask(id, n, lease, decide)));
  }

  private <T> T ask(BucketId id, int n, Duration lease, BiFunction<Bucket, Attempt, T> decide) {
    Instant now = clock.instant();
    Optional<Bucket> recent = recent(id, now).filter(row -> n <= row.spec().capacity());
    if (recent.isPresent()) {
      Attempt first = claims.firstTry(id, n, lease);
      return first.size() == n
          ? decide.apply(recent.get(), first)
          : decided(readOrGiveBack(id, first, () -> read(id, now)), first, decide);
    }
    if (memory.hasAny(id, Mark.REFUSED)) {
      return decided(read(id, now), new Attempt(lease), decide);
    }
    CompletableFuture<Bucket> reading =
        CompletableFuture.supplyAsync(() -> read(id, now), executor);
    Attempt first = claims.firstTry(id, n, lease);
    return decided(readOrGiveBack(id, first, () -> joined(reading)), first, decide);
  }

  /** The row of a bucket that claims may use without reading it again. */
  private Optional<Bucket> recent(BucketId id, Instant now) {
    return memory
        .row(id, rowLife)
        .filter(row -> row.line().isEmpty() && row.hasBeenWritten() && !row.isHibernating())
        .filter(row -> !row.at(now).isKnownEmpty());
  }

  private Bucket rowForPrefetch(BucketId id) {
    Instant now = clock.instant();
    return recent(id, now).orElseGet(() -> read(id, now));
  }

  private Bucket read(BucketId id, Instant now) {
    Bucket row = reader.apply(id);
    memory.keep(row, now);
    return row;
  }

  private Bucket readOrGiveBack(BucketId id, Attempt first, Supplier<Bucket> read) {
    try {
      return read.get();
    } catch (RuntimeException failure) {
      memory.forgetRow(id);
      claims.held().giveBack(id, first);
      throw failure;
    }
  }

  private static Bucket joined(CompletableFuture<Bucket> reading) {
    try {
      return reading.join();
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof Error fatal) {
        throw fatal;
      }
      throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
  }

  /** Decides with a row just read, and keeps what was found. */
  private <T> T decided(Bucket read, Attempt first, BiFunction<Bucket, Attempt, T> decide) {
    T result = decide.apply(read, first);
    Instant now = clock.instant();
    boolean isRefused =
        result instanceof ClaimResult.Shortfall
            || (result instanceof SpendResult some && some.shortfall().isPresent());
    if (!isRefused) {
      memory.clear(read.id(), Mark.REFUSED);
      if (read.at(now).isKnownEmpty()) {
        // The bucket has tokens all the same, so this row must not refuse anybody.
        memory.forgetRow(read.id());
      }
      return result;
    }
    memory.mark(read.id(), Mark.REFUSED, now.plus(refusalLife));
    if (result instanceof ClaimResult.Denied denied
        && denied.place().filter(taken -> !read.hasIssued(taken)).isPresent()) {
      // The line has grown since the row was read.
      memory.forgetRow(read.id());
      return result;
    }
    memory
        .until(read.id(), Mark.EMPTY)
        .filter(until -> !read.at(now).isKnownEmpty())
        .map(until -> read.with(new EmptyHint(now, until, 0)))
        .ifPresent(memory::replace);
    return result;
  }
}

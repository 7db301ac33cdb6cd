package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Claims tokens for the connect authorizer, the message processor and applications.
 *
 * <h2>The order of checks</h2>
 *
 * <ol>
 *   <li>If the bucket's row has a valid {@link EmptyHint}, the claim is refused without a request
 *       to the queue. The hint is valid until the next token is due, for a second if other callers
 *       hold tokens that may return, and for ten seconds at most; for a minute if there is no
 *       queue.
 *   <li>A short poll receives tokens. It takes milliseconds and may miss some. If it finds too few,
 *       the claim reads the number of tokens in the queue. If the queue has any, the claim repeats
 *       the receive as a long poll.
 *   <li>The claim is {@link ClaimResult.Undecided} only if the queue does not respond at all. A
 *       missing queue, a row that cannot be written or a fill that cannot be requested have no such
 *       effect.
 * </ol>
 *
 * <h2>Fills on request</h2>
 *
 * A claim that finds a bucket empty and without pending tokens stores an {@link EmptyHint} and
 * requests a fill. A claim on a hibernating bucket takes a token from the queue and requests a fill
 * too. It waits for the fill only if all the bucket's tokens have expired. A failed fill request
 * never admits a claim.
 *
 * <h2>Several tokens at once</h2>
 *
 * A claim for several tokens holds all of them or none. Claims that each hold a part could block
 * each other for ever. So a claim that finds too few tokens returns them at once and retries after
 * a random pause, a few times. Claims in one process run one after another. If one finds too few
 * tokens, its result also applies to the waiting claims for the same number.
 */
public final class BucketGate {
  /** The default lease of a token: longer than an API Gateway integration may take. */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** The most tokens of one claim. */
  public static final int MAX_TOKENS = 10_000;

  /** How long this process waits before it repeats a fill request. */
  private static final Duration REQUEST_INTERVAL = Duration.ofSeconds(5);

  /** How long a claim waits for the acceptance of a fill request. */
  private static final Duration REQUEST_TIMEOUT = Duration.ofMillis(500);

  /** The most attempts of a claim while other callers hold some of the tokens it needs. */
  private static final int MAX_ATTEMPTS = 4;

  private static final int FIRST_PAUSE_MILLIS = 20;

  private final Buckets buckets;
  private final TokenQueue queue;
  private final TokenSearch search;
  private final HeldTokens held;
  private final FillRequests fills;
  private final Executor executor;
  private final Pause pause;
  private final InstantSource clock;
  private final ClaimLocks locks = new ClaimLocks();
  private final BucketMemory memory;

  /**
   * A gate to the buckets in {@code buckets} with their tokens in {@code queue}.
   *
   * @param executor runs concurrent requests
   */
  public BucketGate(
      Buckets buckets,
      TokenQueue queue,
      FillRequests fills,
      Executor executor,
      Pause pause,
      InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
    this.search = new TokenSearch(queue, executor);
    this.held = new HeldTokens(buckets, queue, clock);
    this.fills = fills;
    this.executor = executor;
    this.pause = pause;
    this.clock = clock;
    this.memory = new BucketMemory(clock);
  }

  /** What this process remembers of the buckets. */
  public BucketMemory memory() {
    return memory;
  }

  /**
   * Receives one token before the row is known; {@link #claim(BucketId, Optional, Attempt)}
   * completes the claim.
   */
  public Attempt firstTry(BucketId id) {
    return firstTry(id, 1, LEASE);
  }

  /**
   * Receives up to n tokens before the row is known, unless another claim of this process has just
   * found too few.
   */
  Attempt firstTry(BucketId id, int n, Duration lease) {
    Attempt attempt = new Attempt(lease);
    if (memory.retryAt(id, n).isEmpty()) {
      search.receive(id, n, attempt);
    }
    return attempt;
  }

  /**
   * Holds one token.
   *
   * @param read the bucket as just read; empty if it has no row yet
   * @param first the result of {@link #firstTry}, which ran while the row was read
   */
  public ClaimResult claim(BucketId id, Optional<Bucket> read, Attempt first) {
    if (read.isPresent()) {
      return hold(read.get(), 1, first);
    }
    return first.size() == 0
        ? new ClaimResult.Denied(clock.instant().plus(Bucket.RECONCILE_TIME))
        : granted(id, first);
  }

  /**
   * Holds n tokens, or none.
   *
   * @param read the bucket as just read
   * @param n 1 to the bucket's capacity, at most {@value #MAX_TOKENS}
   * @param lease 1 second to 12 hours (SQS VisibilityTimeout)
   * @throws InvalidValue if n or the lease is out of range
   */
  public ClaimResult claim(Bucket read, int n, Duration lease) {
    check(read, n);
    return claim(read, n, new Attempt(lease));
  }

  /** Holds n tokens, or none, see {@link #claim(Bucket, int, Duration)}. */
  ClaimResult claim(Bucket read, int n, Attempt first) {
    return oneByOne(read.id(), n, () -> hold(read, n, first));
  }

  /** Runs a claim; claims of this process for several tokens of one bucket run one by one. */
  <T> T oneByOne(BucketId id, int n, Supplier<T> claim) {
    return n == 1 ? claim.get() : locks.withLock(id, claim);
  }

  /**
   * Spends n tokens, or none.
   *
   * @param read the bucket as just read
   * @param n 1 to the bucket's capacity, at most {@value #MAX_TOKENS}
   */
  public ClaimResult spend(Bucket read, int n) {
    check(read, n);
    return spend(read, n, new Attempt(leaseToSpend(n)));
  }

  /** Spends n tokens, or none, see {@link #spend(Bucket, int)}. */
  ClaimResult spend(Bucket read, int n, Attempt first) {
    return oneByOne(read.id(), n, () -> settled(hold(read, n, first)));
  }

  /**
   * The lease in which n tokens can be held and spent. For each {@value #MAX_RECEIVES} batches of
   * ten, holding takes a round of concurrent receives, and spending a round of concurrent deletes.
   * So the lease leaves 400 ms for each round, and 30 s for the search of the last tokens.
   */
  static Duration leaseToSpend(int n) {
    return LEASE.plusMillis(10L * n);
  }

  /** Spends the tokens of a claim, if it is granted. */
  ClaimResult settled(ClaimResult claim) {
    if (!(claim instanceof ClaimResult.Granted granted)) {
      return claim;
    }
    SettleResult settlement = settle(granted);
    if (settlement instanceof SettleResult.Spent) {
      return granted;
    }
    if (settlement instanceof SettleResult.Unanswered unanswered) {
      return new ClaimResult.Undecided(unanswered.cause(), true);
    }
    if (settlement instanceof SettleResult.Lapsed lapsed && lapsed.maySpend()) {
      return new ClaimResult.Undecided("the lease ended before the queue responded", true);
    }
    giveBack(granted);
    // What could not be returned returns when its lease ends.
    return new ClaimResult.Denied(later(granted.endsAt(), clock.instant()));
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  /**
   * Checks the number of tokens of a claim.
   *
   * @throws InvalidValue if no bucket of this capacity has so many
   */
  static void check(Bucket read, int n) {
    InvalidValue.inRange("tokens", n, 1, Math.min(MAX_TOKENS, read.spec().capacity()));
  }

  /** Spends held tokens, see {@link HeldTokens#settle}. */
  public SettleResult settle(ClaimResult.Granted granted) {
    return held.settle(granted);
  }

  /** Returns held tokens. Those that cannot be returned now return when their lease ends. */
  public void giveBack(ClaimResult.Granted granted) {
    held.giveBack(granted);
  }

  /** Returns the tokens of an attempt. */
  public void giveBack(BucketId id, Attempt attempt) {
    if (attempt.size() != 0) {
      held.giveBack(attempt.granted(id));
      attempt.clear();
    }
  }

  /**
   * Spends up to n tokens with as few requests as possible. A token counts as unspent if the result
   * is unknown.
   *
   * @param found the bucket as just read; empty if it has no row yet
   * @param n 1 to {@value #MAX_TOKENS}
   * @throws InvalidValue if n is out of range
   */
  public SpendResult spendUpTo(BucketId id, Optional<Bucket> found, int n) {
    InvalidValue.inRange("tokens", n, 1, MAX_TOKENS);
    return found
        .map(read -> spendUpTo(read, n, new Attempt(leaseToSpend(n))))
        .orElseGet(
            () ->
                new SpendResult(
                    0,
                    Optional.of(
                        new ClaimResult.Denied(clock.instant().plus(Bucket.RECONCILE_TIME)))));
  }

  /** Spends up to n tokens, those of {@code attempt} first. */
  SpendResult spendUpTo(Bucket read, int n, Attempt attempt) {
    Instant now = clock.instant();
    boolean isKnownEmpty = read.isKnownEmptyAt(now);
    if (isKnownEmpty && attempt.size() == 0) {
      read.emptyUntil(now).ifPresent(until -> memory.mark(read.id(), Mark.EMPTY, until));
      return new SpendResult(0, Optional.of(new ClaimResult.Denied(read.nextTokensAt(now, n))));
    }
    CompletableFuture<Void> waking = wake(read, now);
    Optional<Level> empty =
        isKnownEmpty ? Optional.empty() : search.complete(read.id(), n, attempt);
    ClaimResult.Granted found = attempt.granted(read.id());
    int spent = settleSome(found);
    await(waking);
    return spent == n
        ? new SpendResult(spent, Optional.empty())
        : new SpendResult(spent, Optional.of(shortfall(read, found, n - spent, empty, attempt)));
  }

  private ClaimResult.Shortfall shortfall(
      Bucket read, ClaimResult.Granted found, int missing, Optional<Level> empty, Attempt attempt) {
    int held = found.leases().size();
    if (held == 0 && attempt.failure().isPresent()) {
      return queueFailed(read, attempt.failure().get());
    }
    Instant now = clock.instant();
    empty.ifPresent(
        level -> await(recordEmpty(read, now, Optional.of(Math.max(0, level.held() - held)))));
    return new ClaimResult.Denied(read.nextTokensAt(now, missing));
  }

  /** Spends the held tokens; returns how many were certainly spent. */
  int settleSome(ClaimResult.Granted found) {
    if (found.leases().isEmpty()) {
      return 0;
    }
    int held = found.leases().size();
    int unspent = quietly(() -> queue.settle(found.bucket(), found.leases()).size()).orElse(held);
    return clock.instant().isBefore(found.endsAt()) ? held - unspent : 0;
  }

  /** Adds n tokens that replace spent ones, see {@link HeldTokens#putBack}. */
  public void putBack(BucketId id, int n) {
    held.putBack(id, n);
  }

  private ClaimResult hold(Bucket read, int n, Attempt attempt) {
    BucketId id = read.id();
    Instant now = clock.instant();
    if (attempt.size() < n && read.isKnownEmptyAt(now)) {
      read.emptyUntil(now).ifPresent(until -> memory.mark(id, Mark.EMPTY, until));
      giveBack(id, attempt);
      return new ClaimResult.Denied(read.nextTokensAt(now, n));
    }
    Optional<Instant> retryAt = memory.retryAt(id, n);
    if (attempt.size() == 0 && retryAt.isPresent()) {
      return new ClaimResult.Denied(retryAt.get());
    }
    CompletableFuture<Void> waking = wake(read, now);
    // After the fill the first result of the queue is obsolete.
    if (read.needsWakingAt(now)) {
      attempt.repeat();
    }
    ClaimResult claim = holdAll(read, n, attempt);
    await(waking);
    return claim;
  }

  /** Requests a fill of a hibernating bucket. Waits for the fill if the bucket has no tokens. */
  private CompletableFuture<Void> wake(Bucket read, Instant now) {
    if (!read.needsWakingAt(now)) {
      return read.isHibernating() ? request(read) : CompletableFuture.completedFuture(null);
    }
    quietly(
        () -> {
          fills.sendAndWait(read.id());
          return true;
        });
    return CompletableFuture.completedFuture(null);
  }

  private ClaimResult holdAll(Bucket read, int n, Attempt attempt) {
    BucketId id = read.id();
    for (int attempts = 1; ; attempts++) {
      Optional<Level> empty = search.complete(id, n, attempt);
      int found = attempt.size();
      if (found == n) {
        return granted(id, attempt);
      }
      if (found == 0 && attempt.failure().isPresent()) {
        return queueFailed(read, attempt.failure().get());
      }
      boolean contended =
          found > 0 && empty.filter(level -> level.visible() + level.held() >= n).isPresent();
      if (contended && attempts < MAX_ATTEMPTS) {
        giveBack(id, attempt);
      } else {
        Instant now = clock.instant();
        CompletableFuture<Void> fill =
            empty
                .map(level -> recordEmpty(read, now, heldByOthersIfEmpty(level, n, found)))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        giveBack(id, attempt);
        await(fill);
        Instant retryAt = read.nextTokensAt(now, n - found);
        if (n > 1 && empty.isPresent() && !contended) {
          memory.tooFew(id, n, retryAt);
        }
        return new ClaimResult.Denied(retryAt);
      }
      pause.of(
          Duration.ofMillis(ThreadLocalRandom.current().nextInt(FIRST_PAUSE_MILLIS << attempts)));
    }
  }

  /** The tokens that other callers hold; empty if the bucket is not empty but has too few. */
  private static Optional<Long> heldByOthersIfEmpty(Level level, int n, int found) {
    return Optional.of(level.held()).filter(any -> found == 0 && (n == 1 || level.visible() == 0));
  }

  private ClaimResult granted(BucketId id, Attempt attempt) {
    memory.clear(id, Mark.EMPTY);
    return attempt.granted(id);
  }

  /** The result if the queue failed: undecided, or denied if the queue is missing. */
  private ClaimResult.Shortfall queueFailed(Bucket read, Unavailable failure) {
    if (!(failure instanceof MissingQueue)) {
      return ClaimResult.Undecided.after(failure);
    }
    Instant now = clock.instant();
    if (read.mayLackQueueAt(now)) {
      return new ClaimResult.Denied(now.plus(Bucket.QUEUE_DELAY));
    }
    if (remember(read, read.hintWhenQueueMissing(now))) {
      await(request(read));
    }
    return new ClaimResult.Denied(now.plus(Bucket.RECONCILE_TIME));
  }

  /**
   * Stores that the bucket is empty, if it is, and requests a fill if no tokens are pending. Of
   * several claims that find the bucket empty, the first to store the hint requests the fill. If
   * the row cannot be written, a fill would fail too.
   *
   * @param heldByOthers tokens that other callers hold; empty if the bucket is not empty but has
   *     too few
   */
  private CompletableFuture<Void> recordEmpty(
      Bucket read, Instant now, Optional<Long> heldByOthers) {
    boolean isFirst = true;
    if (heldByOthers.isPresent()) {
      isFirst = remember(read, read.hintWhenEmpty(now, heldByOthers.get()));
    }
    return isFirst && read.needsFillAt(now)
        ? request(read)
        : CompletableFuture.completedFuture(null);
  }

  /** Stores the hint; returns whether no other claim was faster. */
  private boolean remember(Bucket read, EmptyHint found) {
    memory.mark(read.id(), Mark.EMPTY, found.until());
    return quietly(() -> buckets.rememberEmpty(read, found)).equals(Optional.of(WriteResult.DONE));
  }

  /** Requests a fill of the bucket before its callers in line find it empty, if it is time. */
  void fillForLine(Bucket read) {
    if (read.needsFillAt(clock.instant())) {
      await(request(read));
    }
  }

  /** Requests a fill of this version of the bucket, unless this process has just done so. */
  private CompletableFuture<Void> request(Bucket read) {
    if (!memory.requestFill(read.id(), read.version(), REQUEST_INTERVAL)) {
      return CompletableFuture.completedFuture(null);
    }
    return CompletableFuture.runAsync(() -> fills.send(read.id()), executor);
  }

  /** Waits for a request. If it is not accepted in time, a later claim repeats it. */
  private static void await(CompletableFuture<Void> request) {
    try {
      request.get(REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException notAccepted) {
      return;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static <T> Optional<T> quietly(Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  /**
   * The result of a claim for up to n tokens.
   *
   * @param tokens how many were spent
   * @param shortfall why not all n; empty if all were spent
   */
  public record SpendResult(int tokens, Optional<ClaimResult.Shortfall> shortfall) {}
}

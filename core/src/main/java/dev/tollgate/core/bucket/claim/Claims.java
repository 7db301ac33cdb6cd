package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * Claims tokens for the connect authorizer, the message processor and applications. {@link
 * ClaimPolicy} decides, and this class acts.
 *
 * <h2>The order of checks</h2>
 *
 * <ol>
 *   <li>While somebody waits in the bucket's {@link Line}, the {@link ClaimPolicy} decides who may
 *       ask the queue. A caller that is refused may take one of the {@link LinePlaces}.
 *   <li>If the bucket's row has a valid {@link EmptyHint}, the claim is refused without a request
 *       to the queue. The hint is valid until the next token is due, for a second if other callers
 *       hold tokens that may return, and for ten seconds at most; for a minute if there is no
 *       queue.
 *   <li>The {@link TokenSearch} receives tokens.
 *   <li>The claim is {@link ClaimResult.Undecided} only if the queue does not respond at all. A
 *       missing queue, a row that cannot be written or a fill that cannot be requested, see {@link
 *       FillsOnRequest}, have no such effect.
 * </ol>
 *
 * <h2>Several tokens at once</h2>
 *
 * A claim for several tokens holds all of them or none. Claims that each hold a part could block
 * each other for ever. So a claim that finds too few tokens returns them at once and retries after
 * a random pause, a few times. Claims in one process run one after another. If one finds too few
 * tokens, its result also applies to the waiting claims for the same number.
 */
public final class Claims {
  /** The default lease of a token: longer than an API Gateway integration may take. */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** The most tokens of one claim. */
  public static final int MAX_TOKENS = 10_000;

  /** The most attempts of a claim while other callers hold some of the tokens it needs. */
  private static final int MAX_ATTEMPTS = 4;

  private static final int FIRST_PAUSE_MILLIS = 20;

  private final Buckets buckets;
  private final TokenSearch search;
  private final HeldTokens held;
  private final LinePlaces places;
  private final FillsOnRequest fills;
  private final Pause pause;
  private final InstantSource clock;
  private final ClaimLocks locks = new ClaimLocks();
  private final BucketMemory memory;
  private final Waiting withoutPlace = new CallerWithoutPlace();

  /**
   * Claims on the buckets in {@code buckets} with their tokens in {@code queue}.
   *
   * @param executor runs concurrent requests
   */
  public Claims(
      Buckets buckets,
      TokenQueue queue,
      FillRequests fills,
      Executor executor,
      Pause pause,
      InstantSource clock) {
    this.buckets = buckets;
    this.search = new TokenSearch(queue, executor);
    this.held = new HeldTokens(buckets, queue, clock);
    this.places = new LinePlaces(buckets, clock);
    this.memory = new BucketMemory(clock);
    this.fills = new FillsOnRequest(buckets, fills, memory, executor, clock);
    this.pause = pause;
    this.clock = clock;
  }

  /** What this process remembers of the buckets. */
  public BucketMemory memory() {
    return memory;
  }

  // Claims

  /** Receives one token before the row is known, for one of the claims below. */
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
   * Holds one token of a bucket that has no row yet.
   *
   * @param first the result of {@link #firstTry}
   */
  public ClaimResult hold(BucketId id, Attempt first) {
    return first.size() == 0 ? noRow() : granted(id, first);
  }

  /**
   * Holds one token for a caller that may wait in line.
   *
   * @param read the bucket as just read
   * @param caller who claims; if it is refused it keeps its place
   * @param first the result of {@link #firstTry}, which ran while the row was read
   */
  public ClaimResult hold(Bucket read, Waiting caller, Attempt first) {
    return hold(read, 1, caller, first);
  }

  /** Spends one token, see {@link #hold(Bucket, Waiting, Attempt)}. */
  public ClaimResult spend(Bucket read, Waiting caller, Attempt first) {
    Instant now = clock.instant();
    Optional<Place> due = caller.place().filter(place -> read.standing(place, now) == Standing.DUE);
    ClaimResult claim = hold(read, caller, first);
    ClaimResult spent = settled(claim);
    // A caller whose token was not spent in time waits for the next one in its place.
    return claim instanceof ClaimResult.Granted && spent instanceof Denied denied
        ? due.map(place -> keptBack(read, place, denied.retryAt())).orElse(denied)
        : spent;
  }

  /**
   * Holds n tokens, or none, for a caller that takes no place and overtakes nobody. While others
   * wait, it gets one spare token or the token after those of all places; more than one token are
   * refused.
   *
   * @param read the bucket as just read
   * @param n 1 to the bucket's capacity, at most {@value #MAX_TOKENS}
   * @param lease 1 second to 12 hours (SQS VisibilityTimeout)
   * @throws InvalidValue if n or the lease is out of range
   */
  public ClaimResult hold(Bucket read, int n, Duration lease) {
    check(read, n);
    return hold(read, n, new Attempt(lease));
  }

  /**
   * Holds n tokens, those of {@code first} among them, see {@link #hold(Bucket, int, Duration)}.
   */
  public ClaimResult hold(Bucket read, int n, Attempt first) {
    return oneByOne(read.id(), n, () -> unplaced(hold(read, n, withoutPlace, first)));
  }

  /**
   * Spends n tokens, or none, see {@link #hold(Bucket, int, Duration)}.
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
    return oneByOne(read.id(), n, () -> unplaced(settled(hold(read, n, withoutPlace, first))));
  }

  /** Spends up to n tokens; at most one while others wait, see {@link #spend(Bucket, int)}. */
  SpendResult spendUpTo(Bucket read, int n, Attempt first) {
    if (read.liveLineAt(clock.instant()).isEmpty()) {
      return spendAvailable(read, n, first);
    }
    giveBack(read.id(), first);
    ClaimResult one = spend(read, 1, first.again());
    return one instanceof ClaimResult.Shortfall shortfall
        ? new SpendResult(0, Optional.of(shortfall))
        : new SpendResult(
            1,
            Optional.of(n - 1)
                .filter(more -> more > 0)
                .flatMap(more -> read.lineEndsAt(clock.instant(), more))
                .map(Denied::new));
  }

  /**
   * Spends up to n tokens, whoever waits in line, with as few requests as possible. A token counts
   * as unspent if the result is unknown.
   *
   * @param found the bucket as just read; empty if it has no row yet
   * @param n 1 to {@value #MAX_TOKENS}
   * @throws InvalidValue if n is out of range
   */
  public SpendResult spendUpTo(BucketId id, Optional<Bucket> found, int n) {
    InvalidValue.inRange("tokens", n, 1, MAX_TOKENS);
    return found
        .map(read -> spendAvailable(read, n, new Attempt(leaseToSpend(n))))
        .orElseGet(() -> new SpendResult(0, Optional.of(noRow())));
  }

  /** Runs a claim; claims of this process for several tokens of one bucket run one by one. */
  <T> T oneByOne(BucketId id, int n, Supplier<T> claim) {
    return n == 1 ? claim.get() : locks.withLock(id, claim);
  }

  /**
   * The lease in which n tokens can be held and spent. For each eight batches of ten, holding takes
   * a round of concurrent receives, and spending a round of concurrent deletes. So the lease leaves
   * 400 ms for each round, and 30 s for the search of the last tokens.
   */
  static Duration leaseToSpend(int n) {
    return LEASE.plusMillis(10L * n);
  }

  /**
   * Checks the number of tokens of a claim.
   *
   * @throws InvalidValue if no bucket of this capacity has so many
   */
  static void check(Bucket read, int n) {
    InvalidValue.inRange("tokens", n, 1, Math.min(MAX_TOKENS, read.spec().capacity()));
  }

  // The line

  private ClaimResult hold(Bucket read, int n, Waiting caller, Attempt attempt) {
    Bucket row = read;
    if (read.liveLineAt(clock.instant()).isEmpty()) {
      memory.clear(read.id(), Mark.LINE);
    } else if (n == 1) {
      row = retuned(read);
      fills.beforeLineEmpties(row);
    }
    ClaimPolicy.Request request = new ClaimPolicy.Request(n, caller.place(), caller.mayWait());
    return act(ClaimPolicy.next(row, request, clock.instant()), row, n, caller, attempt);
  }

  private ClaimResult act(
      ClaimPolicy.Step step, Bucket row, int n, Waiting caller, Attempt attempt) {
    if (step instanceof ClaimPolicy.Receive) {
      ClaimResult claim = receive(row, n, attempt);
      return claim instanceof Denied denied && caller.mayWait() && row.spec().keepsLine()
          ? entered(places.open(row, denied.retryAt(), caller), attempt)
          : claim;
    }
    if (step instanceof ClaimPolicy.Redeem due) {
      return redeem(row, due.place(), attempt);
    }
    if (step instanceof ClaimPolicy.TakeSpare spare) {
      if (!takesSpare(row)) {
        return act(spare.otherwise(), row, n, caller, attempt);
      }
      ClaimResult claim = receive(row, n, attempt);
      return claim instanceof Denied
          ? act(spare.otherwise(), row, n, caller, attempt.again())
          : claim;
    }
    giveBack(row.id(), attempt);
    if (step instanceof ClaimPolicy.Enter enter) {
      return entered(places.enter(row, enter.line(), caller), attempt);
    }
    Denied refusal = ((ClaimPolicy.Refuse) step).refusal();
    return refusal.place().isPresent() ? marked(row, refusal) : refusal;
  }

  /** The result of a caller that may have got a place: it claims at once if its slot has come. */
  private ClaimResult entered(LinePlaces.Entry entry, Attempt attempt) {
    Denied refusal = entry.refusal();
    if (refusal.place().isEmpty()) {
      return refusal;
    }
    return refusal.retryAt().isAfter(clock.instant())
        ? marked(entry.row(), refusal)
        : redeem(entry.row(), refusal.place().get(), attempt.again());
  }

  /** Claims a token for a place that is due. */
  private ClaimResult redeem(Bucket row, Place place, Attempt attempt) {
    ClaimResult claim = receive(row, 1, attempt);
    if (!(claim instanceof Denied denied)) {
      return claim;
    }
    Instant now = clock.instant();
    Denied waiting = ClaimPolicy.waiting(row.line().orElseThrow(), place);
    return waiting.retryAt().isAfter(now)
        ? marked(row, waiting)
        : keptBack(row, place, ClaimPolicy.retryAt(row, place, denied.retryAt(), now));
  }

  /**
   * The refusal of a place that is due and got no token. The place stays due at {@code retryAt}, or
   * its slot moves there.
   */
  private Denied keptBack(Bucket row, Place place, Instant retryAt) {
    Denied refusal = new Denied(retryAt, Optional.of(place));
    return ClaimPolicy.moved(row, place, retryAt, clock.instant())
        .flatMap(line -> Unavailable.orEmpty(() -> buckets.changeLine(row.id(), row.line(), line)))
        .map(line -> marked(row.with(line), ClaimPolicy.waiting(line, place)))
        .orElse(refusal);
  }

  /** Notes that callers wait in the bucket's line. */
  private Denied marked(Bucket row, Denied refusal) {
    row.line().ifPresent(line -> memory.mark(row.id(), Mark.LINE, line.slot(line.issued())));
    return refusal;
  }

  /** The bucket with a line that has its rate. */
  private Bucket retuned(Bucket read) {
    return read.lineRetuned(clock.instant())
        .flatMap(
            next -> Unavailable.orEmpty(() -> buckets.changeLine(read.id(), read.line(), next)))
        .map(read::with)
        .orElse(read);
  }

  private boolean takesSpare(Bucket row) {
    long epoch = row.line().orElseThrow().epoch();
    return Unavailable.orEmpty(
            () -> Optional.of(buckets.takeSpare(row.id(), epoch, clock.instant())))
        .filter(WriteResult.DONE::equals)
        .isPresent();
  }

  /** A caller that takes a place only if its slot has come, and claims at once. */
  private final class CallerWithoutPlace implements Waiting {
    @Override
    public Optional<Place> place() {
      return Optional.empty();
    }

    @Override
    public boolean mayWait() {
      return false;
    }

    @Override
    public boolean lasts(Instant slot) {
      return !slot.isAfter(clock.instant());
    }

    @Override
    public boolean keep(Place place, Instant slot) {
      return lasts(slot);
    }
  }

  private static ClaimResult unplaced(ClaimResult claim) {
    return claim instanceof Denied denied ? new Denied(denied.retryAt()) : claim;
  }

  // The queue

  /** Asks the queue for n tokens, whoever waits in line. */
  private ClaimResult receive(Bucket row, int n, Attempt attempt) {
    BucketId id = row.id();
    Instant now = clock.instant();
    Optional<Denied> refusal =
        attempt.size() < n ? ClaimPolicy.refusalWhileEmpty(row, n, now) : Optional.empty();
    if (refusal.isPresent()) {
      row.emptyUntil(now).ifPresent(until -> memory.mark(id, Mark.EMPTY, until));
      giveBack(id, attempt);
      return refusal.get();
    }
    Optional<Instant> retryAt = memory.retryAt(id, n);
    if (attempt.size() == 0 && retryAt.isPresent()) {
      return new Denied(retryAt.get());
    }
    FillsOnRequest.Sent waking = fills.wake(row, now);
    // After the fill the first result of the queue is obsolete.
    if (row.needsWakingAt(now)) {
      attempt.repeat();
    }
    ClaimResult claim = receiveAll(row, n, attempt);
    waking.await();
    return claim;
  }

  private ClaimResult receiveAll(Bucket row, int n, Attempt attempt) {
    BucketId id = row.id();
    for (int attempts = 1; ; attempts++) {
      Optional<Level> empty = search.complete(id, n, attempt);
      int found = attempt.size();
      if (found == n) {
        return granted(id, attempt);
      }
      if (found == 0 && attempt.failure().isPresent()) {
        return queueFailed(row, attempt.failure().get());
      }
      boolean contended =
          found > 0 && empty.filter(level -> level.visible() + level.held() >= n).isPresent();
      if (!contended || attempts == MAX_ATTEMPTS) {
        Instant now = clock.instant();
        FillsOnRequest.Sent fill =
            empty
                .map(level -> foundTooFew(row, n, found, level, now))
                .orElse(FillsOnRequest.Sent.NOTHING);
        giveBack(id, attempt);
        fill.await();
        Instant retryAt = row.nextTokensAt(now, n - found);
        if (n > 1 && empty.isPresent() && !contended) {
          memory.tooFew(id, n, retryAt);
        }
        return new Denied(retryAt);
      }
      giveBack(id, attempt);
      pause.of(
          Duration.ofMillis(ThreadLocalRandom.current().nextInt(FIRST_PAUSE_MILLIS << attempts)));
    }
  }

  private FillsOnRequest.Sent foundTooFew(Bucket row, int n, int found, Level level, Instant now) {
    boolean isEmpty = found == 0 && (n == 1 || level.visible() == 0);
    return isEmpty ? fills.empty(row, now, level.held()) : fills.tooFew(row, now);
  }

  private ClaimResult granted(BucketId id, Attempt attempt) {
    memory.clear(id, Mark.EMPTY);
    return attempt.granted(id);
  }

  private Denied noRow() {
    return new Denied(clock.instant().plus(Bucket.RECONCILE_TIME));
  }

  /** The result if the queue failed: undecided, or denied if the queue is missing. */
  private ClaimResult.Shortfall queueFailed(Bucket row, Unavailable failure) {
    if (!(failure instanceof MissingQueue)) {
      return ClaimResult.Undecided.after(failure);
    }
    Instant now = clock.instant();
    if (row.mayLackQueueAt(now)) {
      return new Denied(now.plus(Bucket.QUEUE_DELAY));
    }
    fills.queueMissing(row, now);
    return new Denied(now.plus(Bucket.RECONCILE_TIME));
  }

  /** Spends up to n tokens, those of {@code attempt} first. */
  private SpendResult spendAvailable(Bucket row, int n, Attempt attempt) {
    Instant now = clock.instant();
    Optional<Denied> refusal = ClaimPolicy.refusalWhileEmpty(row, n, now);
    if (refusal.isPresent() && attempt.size() == 0) {
      row.emptyUntil(now).ifPresent(until -> memory.mark(row.id(), Mark.EMPTY, until));
      return new SpendResult(0, refusal.map(denied -> denied));
    }
    FillsOnRequest.Sent waking = fills.wake(row, now);
    Optional<Level> empty =
        refusal.isPresent() ? Optional.empty() : search.complete(row.id(), n, attempt);
    ClaimResult.Granted found = attempt.granted(row.id());
    int spent = held.settleSome(found);
    waking.await();
    return spent == n
        ? new SpendResult(spent, Optional.empty())
        : new SpendResult(spent, Optional.of(shortfall(row, found, n - spent, empty, attempt)));
  }

  private ClaimResult.Shortfall shortfall(
      Bucket row, ClaimResult.Granted found, int missing, Optional<Level> empty, Attempt attempt) {
    int received = found.leases().size();
    if (received == 0 && attempt.failure().isPresent()) {
      return queueFailed(row, attempt.failure().get());
    }
    Instant now = clock.instant();
    empty.ifPresent(level -> fills.empty(row, now, Math.max(0, level.held() - received)).await());
    return new Denied(row.nextTokensAt(now, missing));
  }

  // Held tokens

  /** Spends the tokens of a claim, if it is granted. */
  private ClaimResult settled(ClaimResult claim) {
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
    Instant now = clock.instant();
    return new Denied(granted.endsAt().isAfter(now) ? granted.endsAt() : now);
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

  /** Adds n tokens that replace spent ones, see {@link HeldTokens#putBack}. */
  public void putBack(BucketId id, int n) {
    held.putBack(id, n);
  }
}

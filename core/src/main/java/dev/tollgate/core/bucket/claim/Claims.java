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
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Executor;
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
 *   <li>If the bucket's row has a valid {@link EmptyHint}, and the first try found too few tokens,
 *       the claim is refused without another request to the queue. The hint is valid until the next
 *       token is due, for a second if other callers hold tokens that may return, and for ten
 *       seconds at most (five with direct filling); for a minute if there is no queue.
 *   <li>The {@link QueueClaims} receive tokens.
 *   <li>The claim is {@link ClaimResult.Undecided} only if the queue does not respond at all. A
 *       missing queue, a row that cannot be written or a fill that cannot be requested, see {@link
 *       FillsOnRequest}, have no such effect.
 * </ol>
 */
public final class Claims {
  /** The default lease of a token: longer than an API Gateway integration may take. */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** The most tokens of one claim. */
  public static final int MAX_TOKENS = 10_000;

  private final Buckets buckets;
  private final HeldTokens held;
  private final LinePlaces places;
  private final QueueClaims tokens;
  private final FillsOnRequest fills;
  private final InstantSource clock;
  private final ClaimLocks locks = new ClaimLocks();
  private final BucketMemory memory;
  private final LineCaller withoutPlace = new CallerWithoutPlace();

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
    this.held = new HeldTokens(buckets, queue, clock);
    this.places = new LinePlaces(buckets, clock);
    this.memory = new BucketMemory(clock);
    this.fills = new FillsOnRequest(buckets, fills, memory, executor, clock);
    TokenSearch search = new TokenSearch(queue, executor);
    this.tokens = new QueueClaims(search, held, this.fills, memory, pause, clock);
    this.clock = clock;
  }

  /** What this process remembers of the buckets. */
  public BucketMemory memory() {
    return memory;
  }

  /** Spends, returns and replaces the tokens of claims. */
  public HeldTokens held() {
    return held;
  }

  // Claims

  /** Receives one token before the row is known, for one of the claims below. */
  public Attempt firstTry(BucketId id) {
    return firstTry(id, 1, LEASE);
  }

  /** Receives up to n tokens before the row is known. */
  Attempt firstTry(BucketId id, int n, Duration lease) {
    return tokens.firstTry(id, n, lease);
  }

  /**
   * Holds one token of a bucket that has no row yet.
   *
   * @param first the result of {@link #firstTry}
   */
  public ClaimResult hold(BucketId id, Attempt first) {
    return tokens.holdWithoutRow(id, first);
  }

  /**
   * Holds one token for a caller that may wait in line.
   *
   * @param read the bucket as just read
   * @param caller who claims; if it is refused it keeps its place
   * @param first the result of {@link #firstTry}, which ran while the row was read
   */
  public ClaimResult hold(Bucket read, LineCaller caller, Attempt first) {
    return hold(read, 1, caller, first);
  }

  /** Spends one token, see {@link #hold(Bucket, LineCaller, Attempt)}. */
  public ClaimResult spend(Bucket read, LineCaller caller, Attempt first) {
    Instant now = clock.instant();
    Optional<Place> due =
        caller.place().filter(place -> read.at(now).standing(place) == Standing.DUE);
    ClaimResult claim = hold(read, caller, first);
    ClaimResult spent = held.spend(claim);
    // A caller whose token was not spent in time waits for the next one in its place.
    return claim instanceof ClaimResult.Granted && spent instanceof Denied denied
        ? due.map(place -> keptBack(read, place, denied.retryAt())).orElse(denied)
        : spent;
  }

  /**
   * Holds n tokens, or none, for a caller that takes no place and overtakes nobody. While others
   * wait, it gets one spare token or the token after those of all places; more than one token are
   * refused. Claims of this process for several tokens of one bucket run one by one.
   *
   * @param read the bucket as just read
   * @param n 1 to the bucket's capacity, at most {@value #MAX_TOKENS}
   * @param first the tokens that it received while the row was read
   * @throws InvalidValue if n is out of range; the tokens are returned
   */
  public ClaimResult hold(Bucket read, int n, Attempt first) {
    check(read, n, first);
    return oneByOne(read.id(), n, () -> unplaced(hold(read, n, withoutPlace, first)));
  }

  /** Spends n tokens, or none, see {@link #hold(Bucket, int, Attempt)}. */
  public ClaimResult spend(Bucket read, int n, Attempt first) {
    check(read, n, first);
    return oneByOne(read.id(), n, () -> unplaced(held.spend(hold(read, n, withoutPlace, first))));
  }

  /**
   * Spends up to n tokens; at most one while others wait, see {@link #spend(Bucket, int, Attempt)}.
   */
  SpendResult spendUpTo(Bucket read, int n, Attempt first) {
    if (read.at(clock.instant()).line().isEmpty()) {
      return tokens.spendUpTo(read, n, first);
    }
    held.giveBack(read.id(), first);
    ClaimResult one = spend(read, 1, first.again());
    return one instanceof ClaimResult.Shortfall shortfall
        ? new SpendResult(0, Optional.of(shortfall))
        : new SpendResult(
            1,
            Optional.of(n - 1)
                .filter(more -> more > 0)
                .flatMap(more -> read.at(clock.instant()).lineEnds(more))
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
        .map(read -> tokens.spendUpTo(read, n, new Attempt(leaseToSpend(n))))
        .orElseGet(() -> new SpendResult(0, Optional.of(tokens.noRow())));
  }

  /** Runs a claim; claims of this process for several tokens of one bucket run one by one. */
  <T> T oneByOne(BucketId id, int n, Supplier<T> claim) {
    return n == 1 ? claim.get() : locked(id, claim);
  }

  /** Runs a claim while no other such claim of this process runs for the bucket. */
  <T> T locked(BucketId id, Supplier<T> claim) {
    return locks.withLock(id, claim);
  }

  /**
   * The lease in which n tokens can be held and spent. For each eight batches of ten, holding takes
   * a round of concurrent receives, and spending a round of concurrent deletes. So the lease leaves
   * 400 ms for each round, and 30 s for the search of the last tokens.
   */
  public static Duration leaseToSpend(int n) {
    return LEASE.plusMillis(10L * n);
  }

  private void check(Bucket read, int n, Attempt first) {
    try {
      InvalidValue.inRange("tokens", n, 1, Math.min(MAX_TOKENS, read.spec().capacity()));
    } catch (InvalidValue outOfRange) {
      held.giveBack(read.id(), first);
      throw outOfRange;
    }
  }

  // The line

  private ClaimResult hold(Bucket read, int n, LineCaller caller, Attempt attempt) {
    Bucket row = read;
    Instant now = clock.instant();
    if (read.at(now).line().isEmpty()) {
      memory.clear(read.id(), Mark.LINE);
    } else if (n == 1) {
      row = retuned(read);
      // A place that is due now is due, however long the request takes.
      now = clock.instant();
      fills.beforeLineEmpties(row);
    }
    return act(step(row, n, caller, now), row, n, caller, attempt);
  }

  private static ClaimPolicy.Step step(Bucket row, int n, LineCaller caller, Instant now) {
    return ClaimPolicy.next(
        row.at(now), new ClaimPolicy.Request(n, caller.place(), caller.mayWait()));
  }

  private ClaimResult act(
      ClaimPolicy.Step step, Bucket row, int n, LineCaller caller, Attempt attempt) {
    if (step instanceof ClaimPolicy.Receive) {
      ClaimResult claim = tokens.hold(row, n, attempt);
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
      ClaimResult claim = tokens.hold(row, n, attempt);
      if (!(claim instanceof Denied)) {
        return claim;
      }
      // The next slot may have come while the claim asked the queue.
      ClaimPolicy.Step later = step(row, n, caller, clock.instant());
      ClaimPolicy.Step next =
          later instanceof ClaimPolicy.TakeSpare same ? same.otherwise() : later;
      return act(next, row, n, caller, attempt.again());
    }
    held.giveBack(row.id(), attempt);
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
    return entry.isAtEnd() && !refusal.retryAt().isAfter(clock.instant())
        ? redeem(entry.row(), refusal.place().get(), attempt.again())
        : marked(entry.row(), refusal);
  }

  /** Claims a token for a place that is due. */
  private ClaimResult redeem(Bucket row, Place place, Attempt attempt) {
    ClaimResult claim = tokens.hold(row, 1, attempt);
    if (!(claim instanceof Denied denied)) {
      return claim;
    }
    Instant now = clock.instant();
    Denied waiting = ClaimPolicy.waiting(row.line().orElseThrow(), place);
    return waiting.retryAt().isAfter(now)
        ? marked(row, waiting)
        : keptBack(row, place, ClaimPolicy.retryAt(row.at(now), place, denied.retryAt()));
  }

  /**
   * The refusal of a place that is due and got no token. The place stays due at {@code retryAt}, or
   * its slot moves there.
   */
  private Denied keptBack(Bucket row, Place place, Instant retryAt) {
    Denied refusal = new Denied(retryAt, Optional.of(place));
    return ClaimPolicy.moved(row.at(clock.instant()), place, retryAt)
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
    return read.at(clock.instant())
        .lineRetuned()
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
  private final class CallerWithoutPlace implements LineCaller {
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
}

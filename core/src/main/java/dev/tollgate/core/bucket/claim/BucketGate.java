package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.TokenQueue.Search;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Claims tokens. Everybody claims here: the connect authorizer, the message processor,
 * applications.
 *
 * <h2>The order of checks</h2>
 *
 * <ol>
 *   <li>A bucket whose row says that it is empty refuses at once. The row is a hint: it is believed
 *       until the next token is due, for a second if others hold tokens that may come back, and
 *       never for longer than ten seconds; if there is no queue, for a minute.
 *   <li>The queue is asked. A short poll answers in milliseconds and may miss tokens; so a queue
 *       that looks empty is asked how many tokens it has, and by a long poll if it has any.
 *   <li>Only a queue that gives no answer at all is {@link ClaimResult.Undecided}. A queue that
 *       does not exist, a row that cannot be written or a fill that cannot be requested never are.
 * </ol>
 *
 * <h2>Fills on request</h2>
 *
 * A claim that finds a bucket empty with nothing on the way writes that down and requests a fill. A
 * claim on a bucket that hibernates takes its token from the queue and requests a fill as well;
 * only when all the bucket's tokens have expired does it wait for the fill. No claim is admitted
 * because a request failed.
 *
 * <h2>Several tokens at once</h2>
 *
 * A claim for several tokens holds all of them or none. Claims that hold a part each would wait for
 * each other for ever, so they give back at once and try again after a random pause, a few times;
 * claims in one process take turns, and one that finds too few tokens answers for those behind it
 * that ask for as many.
 */
public final class BucketGate {
  /**
   * How long a token is held unless the caller says otherwise: longer than an API Gateway
   * integration may take.
   */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** The most tokens that one claim may ask for. */
  public static final int MAX_TOKENS = 10_000;

  /** For so long this process does not repeat a request for a fill that has not been done yet. */
  private static final Duration REQUEST_APART = Duration.ofSeconds(5);

  /** The longest that a claim waits until a request for a fill is accepted. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** How often a claim tries that holds a part of its tokens while others hold the rest. */
  private static final int ROUNDS = 4;

  private static final int FIRST_PAUSE_MILLIS = 20;

  /** Receives that are under way at once for one claim. */
  private static final int LANES = 8;

  private final Buckets buckets;
  private final TokenQueue queue;
  private final HeldTokens held;
  private final FillRequests fills;
  private final Executor executor;
  private final Pause pause;
  private final InstantSource clock;
  private final ClaimLocks turns = new ClaimLocks();
  private final ExpiringKeys<BucketId> empty = new ExpiringKeys<>();
  private final ExpiringKeys<Request> requested = new ExpiringKeys<>();
  private final ExpiringKeys<TooFew> tooFew = new ExpiringKeys<>();

  /**
   * A gate to buckets that are written down in {@code buckets} and whose tokens lie in {@code
   * queue}.
   *
   * @param executor runs requests beside each other
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
    this.held = new HeldTokens(buckets, queue, clock);
    this.fills = fills;
    this.executor = executor;
    this.pause = pause;
    this.clock = clock;
  }

  /** Whether this process found the bucket empty, and its next token is not yet due. */
  public boolean isKnownEmpty(BucketId id) {
    return empty.until(id).filter(clock.instant()::isBefore).isPresent();
  }

  /** Asks the queue for one token, to be judged by {@link #claim(BucketId, Optional, Hand)}. */
  public Attempt firstTry(BucketId id) {
    Attempt hand = new Attempt();
    collect(id, 1, LEASE, Search.SHORT, hand);
    return hand;
  }

  /**
   * Holds one token.
   *
   * @param read the bucket as it was read just now; empty if it has no row yet
   * @param first what the queue answered while the row was read
   */
  public ClaimResult claim(BucketId id, Optional<Bucket> read, Attempt first) {
    if (read.isPresent()) {
      return hold(read.get(), 1, LEASE, first);
    }
    return first.leases.isEmpty()
        ? new ClaimResult.Denied(clock.instant().plus(Bucket.RECONCILE_TIME))
        : granted(id, first);
  }

  /**
   * Holds n tokens, or none.
   *
   * @param read the bucket as it was read just now
   * @param n 1 to the bucket's capacity, at most {@value #MAX_TOKENS}
   * @param lease 1 second to 12 hours (SQS VisibilityTimeout)
   * @throws InvalidValue if n or the lease is out of range
   */
  public ClaimResult claim(Bucket read, int n, Duration lease) {
    check(read, n);
    InvalidValue.inRange("lease", lease.toSeconds(), 1, Duration.ofHours(12).toSeconds());
    return n == 1
        ? hold(read, n, lease, new Attempt())
        : turns.withLock(read.id(), () -> hold(read, n, lease, new Attempt()));
  }

  /**
   * Spends n tokens, or none.
   *
   * @param read the bucket as it was read just now
   * @param n as {@link #claim(Bucket, int, Duration)} takes it
   */
  public ClaimResult spend(Bucket read, int n) {
    check(read, n);
    // Holding and settling takes about 10 ms for 8 batches of ten.
    Duration lease = LEASE.plusMillis(10L * n);
    Supplier<ClaimResult> spending = () -> settled(hold(read, n, lease, new Attempt()));
    return n == 1 ? spending.get() : turns.withLock(read.id(), spending);
  }

  private ClaimResult settled(ClaimResult claim) {
    if (!(claim instanceof ClaimResult.Granted granted)) {
      return claim;
    }
    SettleResult settlement = settle(granted);
    if (settlement instanceof SettleResult.Spent) {
      return granted;
    }
    // Tokens that are not spent come back when their lease ends.
    return settlement instanceof SettleResult.Unanswered unanswered
        ? new ClaimResult.Undecided(unanswered.cause())
        : new ClaimResult.Denied(later(granted.endsAt(), clock.instant()));
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  private static void check(Bucket read, int n) {
    InvalidValue.inRange("tokens", n, 1, Math.min(MAX_TOKENS, read.spec().capacity()));
  }

  /** Spends what is held, see {@link HeldTokens#settle}. */
  public SettleResult settle(ClaimResult.Granted granted) {
    return held.settle(granted);
  }

  /** Gives back what is held; what cannot be given back returns when its lease ends. */
  public void giveBack(ClaimResult.Granted granted) {
    held.giveBack(granted);
  }

  /** The same of what is in hand. */
  public void giveBack(BucketId id, Attempt hand) {
    if (!hand.leases.isEmpty()) {
      held.giveBack(new ClaimResult.Granted(id, hand.leases));
      hand.leases.clear();
    }
  }

  /**
   * Spends as many tokens as are to be had, up to n, in as few requests as can be. A token that may
   * have been spent and may not counts as not spent.
   *
   * @param found the bucket as it was read just now; empty if it has no row yet
   * @param n 1 to {@value #MAX_TOKENS}
   * @throws InvalidValue if n is out of range
   */
  public SpendResult spendUpTo(BucketId id, Optional<Bucket> found, int n) {
    InvalidValue.inRange("tokens", n, 1, MAX_TOKENS);
    return found
        .map(read -> spendUpTo(read, n))
        .orElseGet(
            () ->
                new SpendResult(
                    0,
                    Optional.of(
                        new ClaimResult.Denied(clock.instant().plus(Bucket.RECONCILE_TIME)))));
  }

  private SpendResult spendUpTo(Bucket read, int n) {
    Instant now = clock.instant();
    if (read.isKnownEmptyAt(now)) {
      return new SpendResult(0, Optional.of(new ClaimResult.Denied(read.nextTokensAt(now, n))));
    }
    CompletableFuture<Void> waking = waking(read, now);
    Attempt hand = new Attempt();
    Optional<Level> empty = search(read.id(), n, LEASE.plusMillis(10L * n), hand);
    ClaimResult.Granted found = new ClaimResult.Granted(read.id(), hand.leases);
    int spent = settleSome(found);
    await(waking);
    return spent == n
        ? new SpendResult(spent, Optional.empty())
        : new SpendResult(spent, Optional.of(shortfall(read, found, n - spent, empty, hand)));
  }

  private ClaimResult.Shortfall shortfall(
      Bucket read, ClaimResult.Granted found, int missing, Optional<Level> empty, Attempt hand) {
    int held = found.leases().size();
    if (held == 0 && hand.failure.isPresent()) {
      return unanswered(read, hand.failure.get());
    }
    Instant now = clock.instant();
    empty.ifPresent(
        level -> await(recordEmpty(read, now, Optional.of(Math.max(0, level.held() - held)))));
    return new ClaimResult.Denied(read.nextTokensAt(now, missing));
  }

  /** Spends what was found; says how many are spent for certain. */
  private int settleSome(ClaimResult.Granted found) {
    if (found.leases().isEmpty()) {
      return 0;
    }
    int held = found.leases().size();
    int unspent = quietly(() -> queue.settle(found.bucket(), found.leases()).size()).orElse(held);
    return clock.instant().isBefore(found.endsAt()) ? held - unspent : 0;
  }

  /** Puts fresh tokens in for n that were spent in vain, see {@link HeldTokens#putBack}. */
  public void putBack(BucketId id, int n) {
    held.putBack(id, n);
  }

  private ClaimResult hold(Bucket read, int n, Duration lease, Attempt hand) {
    BucketId id = read.id();
    Instant now = clock.instant();
    if (hand.leases.size() < n && read.isKnownEmptyAt(now)) {
      read.emptyUntil(now).ifPresent(until -> empty.put(id, until));
      giveBack(id, hand);
      return new ClaimResult.Denied(read.nextTokensAt(now, n));
    }
    Optional<Instant> retryAt = tooFew.until(TooFew.at(now, id, n));
    if (hand.leases.isEmpty() && retryAt.isPresent()) {
      return new ClaimResult.Denied(retryAt.get());
    }
    CompletableFuture<Void> waking = waking(read, now);
    // A bucket that had to be filled first holds other tokens now than when it was asked.
    hand.asked = hand.asked && !read.needsWakingAt(now);
    ClaimResult claim = contend(read, n, lease, hand);
    await(waking);
    return claim;
  }

  /** Requests that a bucket that hibernates is filled again, and waits if it has no tokens. */
  private CompletableFuture<Void> waking(Bucket read, Instant now) {
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

  private ClaimResult contend(Bucket read, int n, Duration lease, Attempt hand) {
    BucketId id = read.id();
    for (int round = 1; ; round++) {
      Optional<Level> empty = search(id, n, lease, hand);
      int found = hand.leases.size();
      if (found == n) {
        return granted(id, hand);
      }
      if (found == 0 && hand.failure.isPresent()) {
        return unanswered(read, hand.failure.get());
      }
      boolean contended =
          found > 0 && empty.filter(level -> level.visible() + level.held() >= n).isPresent();
      if (contended && round < ROUNDS) {
        giveBack(id, hand);
      } else {
        Instant now = clock.instant();
        CompletableFuture<Void> fill =
            empty
                .map(level -> recordEmpty(read, now, heldByOthers(level, n, found)))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        giveBack(id, hand);
        await(fill);
        Instant retryAt = read.nextTokensAt(now, n - found);
        if (n > 1 && empty.isPresent() && !contended) {
          tooFew.put(TooFew.at(now, id, n), retryAt);
        }
        return new ClaimResult.Denied(retryAt);
      }
      pause.of(Duration.ofMillis(ThreadLocalRandom.current().nextInt(FIRST_PAUSE_MILLIS << round)));
    }
  }

  /** What others hold of a bucket without any token to claim; empty if it has some, but too few. */
  private static Optional<Long> heldByOthers(Level level, int n, int found) {
    return Optional.of(level.held()).filter(any -> found == 0 && (n == 1 || level.visible() == 0));
  }

  private ClaimResult granted(BucketId id, Attempt hand) {
    empty.remove(id);
    return new ClaimResult.Granted(id, hand.leases);
  }

  /** Nobody knows what the queue holds, unless there is none. */
  private ClaimResult.Shortfall unanswered(Bucket read, Unavailable failure) {
    if (!(failure instanceof MissingQueue)) {
      return new ClaimResult.Undecided(failure.reason());
    }
    Instant now = clock.instant();
    if (remember(read, read.hintWhenQueueMissing(now))) {
      await(request(read));
    }
    return new ClaimResult.Denied(now.plus(Bucket.RECONCILE_TIME));
  }

  /**
   * Writes down that the bucket is empty, if it is, and requests a fill if nothing is on the way.
   * Of several claims that find it empty the first to write it down requests the fill; while the
   * row cannot be written it could not be filled either.
   *
   * @param heldByOthers how many tokens others hold; empty if there are tokens, but too few
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

  /** Returns whether this is the first to write it down. */
  private boolean remember(Bucket read, EmptyHint found) {
    empty.put(read.id(), found.until());
    return quietly(() -> buckets.rememberEmpty(read, found)).equals(Optional.of(WriteResult.DONE));
  }

  /** Requests a fill of what was read, unless this process has done so just now. */
  private CompletableFuture<Void> request(Bucket read) {
    Instant now = clock.instant();
    Request request = new Request(read.id(), read.version());
    if (!requested.putIfExpired(request, now, now.plus(REQUEST_APART))) {
      return CompletableFuture.completedFuture(null);
    }
    return CompletableFuture.runAsync(() -> fills.send(read.id()), executor);
  }

  /** A request that is not accepted soon is repeated by a later claim. */
  private static void await(CompletableFuture<Void> request) {
    try {
      request.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException notAccepted) {
      return;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Adds tokens to those in hand until there are n or the queue has no more. SQS may give fewer
   * than are there (SQS API reference, ReceiveMessage, {@code MaxNumberOfMessages}), so only a
   * receive that brings nothing says that there are no more.
   *
   * @return what the queue holds besides, if it has no more to give; empty if it may have
   */
  private Optional<Level> search(BucketId id, int n, Duration lease, Attempt hand) {
    if (!hand.asked) {
      collect(id, n, lease, Search.SHORT, hand);
    }
    hand.asked = false;
    if (hand.leases.size() == n || hand.failure.isPresent()) {
      return Optional.empty();
    }
    Optional<Level> level = quietly(() -> queue.look(id));
    if (level.isEmpty() || level.get().visible() == 0) {
      return level;
    }
    collect(id, n, lease, Search.LONG, hand);
    boolean answered = hand.failure.isEmpty();
    // The queue has answered once; that it does not answer again is no reason to admit.
    hand.failure = Optional.empty();
    return answered && hand.leases.size() < n ? level : Optional.empty();
  }

  private void collect(BucketId id, int n, Duration lease, Search search, Attempt hand) {
    hand.asked = true;
    try {
      boolean more = true;
      while (more && hand.leases.size() < n) {
        more = collectOnce(id, n - hand.leases.size(), lease, search, hand);
      }
    } catch (Unavailable unavailable) {
      hand.failure = Optional.of(unavailable);
    }
  }

  /** Receives once in each lane; returns whether any of them found a token. */
  private boolean collectOnce(
      BucketId id, int missing, Duration lease, Search search, Attempt hand) {
    if (missing <= TokenQueue.BATCH) {
      List<Lease> found = queue.reserve(id, missing, lease, search);
      hand.leases.addAll(found);
      return !found.isEmpty();
    }
    int lanes = Math.min(LANES, (missing + TokenQueue.BATCH - 1) / TokenQueue.BATCH);
    List<CompletableFuture<List<Lease>>> receives =
        IntStream.range(0, lanes)
            .map(lane -> Math.min(TokenQueue.BATCH, missing - lane * TokenQueue.BATCH))
            .mapToObj(
                most ->
                    CompletableFuture.supplyAsync(
                        () -> queue.reserve(id, most, lease, search), executor))
            .toList();
    int before = hand.leases.size();
    Optional<Unavailable> failure = Optional.empty();
    for (CompletableFuture<List<Lease>> receive : receives) {
      try {
        hand.leases.addAll(receive.get());
      } catch (ExecutionException failed) {
        failure = Optional.of(unavailable(failed));
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        failure = Optional.of(new Unavailable("the claim was interrupted"));
      }
    }
    failure.ifPresent(
        unavailable -> {
          throw unavailable;
        });
    return hand.leases.size() > before;
  }

  private static Unavailable unavailable(ExecutionException failed) {
    if (failed.getCause() instanceof Unavailable unavailable) {
      return unavailable;
    }
    throw new IllegalStateException(failed.getCause());
  }

  private static <T> Optional<T> quietly(Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  /** A request to fill a bucket that was read in this version. */
  private record Request(BucketId id, long version) {}

  /** There are fewer tokens than a claim asked for; who asks for as many waits in vain. */
  private record TooFew(BucketId id, int tokens, long second) {
    /** Believed for the rest of this second. */
    static TooFew at(Instant now, BucketId id, int tokens) {
      return new TooFew(id, tokens, now.getEpochSecond());
    }
  }

  /** What a claim has in hand: what the queue has given it so far. Not for several threads. */
  public static final class Attempt {
    private final List<Lease> leases = new ArrayList<>();
    private Optional<Unavailable> failure = Optional.empty();
    private boolean asked;

    /** Nothing yet. */
    public Attempt() {}
  }

  /**
   * What came of a claim of up to n tokens.
   *
   * @param tokens how many were spent
   * @param shortfall why not more, if not all n
   */
  public record SpendResult(int tokens, Optional<ClaimResult.Shortfall> shortfall) {}
}

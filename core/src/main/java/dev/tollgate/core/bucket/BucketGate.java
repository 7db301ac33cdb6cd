package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
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
 *       never for longer than a minute.
 *   <li>The queue is asked. A short poll answers in milliseconds and may miss tokens; so a queue
 *       that looks empty is asked how many tokens it has, and by a long poll if it has any.
 *   <li>Only a queue that gives no answer at all is {@link Claim.Undecided}. A queue that does not
 *       exist, a row that cannot be written or a fill that cannot be requested never are.
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
 * claims in one process take turns.
 */
public final class BucketGate {
  /**
   * How long a token is held unless the caller says otherwise: longer than an API Gateway
   * integration may take.
   */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** The most tokens that one claim may ask for. */
  public static final int MOST_TOKENS = 10_000;

  /** When a tenant whose bucket has no row or no queue may have been reconciled. */
  private static final Duration RECONCILED = Duration.ofMinutes(1);

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
  private final Turns turns = new Turns();
  private final Recent<BucketId> empty = new Recent<>();
  private final Recent<Request> requested = new Recent<>();

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
  public boolean believesEmpty(BucketId id) {
    return empty.until(id).filter(clock.instant()::isBefore).isPresent();
  }

  /** Asks the queue for one token, to be judged by {@link #claim(BucketId, Optional, Hand)}. */
  public Hand firstTry(BucketId id) {
    Hand hand = new Hand();
    collect(id, 1, LEASE, Search.SHORT, hand);
    return hand;
  }

  /**
   * Holds one token.
   *
   * @param read the bucket as it was read just now; empty if it has no row yet
   * @param first what the queue answered while the row was read
   */
  public Claim claim(BucketId id, Optional<Bucket> read, Hand first) {
    if (read.isPresent()) {
      return hold(read.get(), 1, LEASE, first);
    }
    return first.leases.isEmpty()
        ? new Claim.Denied(clock.instant().plus(RECONCILED))
        : granted(id, first);
  }

  /**
   * Holds n tokens, or none.
   *
   * @param read the bucket as it was read just now
   * @param n 1 to the bucket's capacity, at most {@value #MOST_TOKENS}
   * @param lease 1 second to 12 hours (SQS VisibilityTimeout)
   * @throws InvalidValue if n or the lease is out of range
   */
  public Claim claim(Bucket read, int n, Duration lease) {
    check(read, n);
    InvalidValue.inRange("lease", lease.toSeconds(), 1, Duration.ofHours(12).toSeconds());
    return n == 1
        ? hold(read, n, lease, new Hand())
        : turns.take(read.id(), () -> hold(read, n, lease, new Hand()));
  }

  /**
   * Spends n tokens, or none.
   *
   * @param read the bucket as it was read just now
   * @param n as {@link #claim(Bucket, int, Duration)} takes it
   */
  public Claim spend(Bucket read, int n) {
    check(read, n);
    // Holding and settling takes about 10 ms for 8 batches of ten.
    Duration lease = LEASE.plusMillis(10L * n);
    Supplier<Claim> spending = () -> settled(hold(read, n, lease, new Hand()));
    return n == 1 ? spending.get() : turns.take(read.id(), spending);
  }

  private Claim settled(Claim claim) {
    if (!(claim instanceof Claim.Granted granted)) {
      return claim;
    }
    Settlement settlement = settle(granted);
    if (settlement instanceof Settlement.Spent) {
      return granted;
    }
    return new Claim.Undecided(
        settlement instanceof Settlement.Unknown unknown
            ? unknown.cause()
            : "the lease ended at " + granted.endsAt() + " before the tokens were spent");
  }

  private static void check(Bucket read, int n) {
    InvalidValue.inRange("tokens", n, 1, Math.min(MOST_TOKENS, read.spec().capacity()));
  }

  /** Spends what is held, see {@link HeldTokens#settle}. */
  public Settlement settle(Claim.Granted granted) {
    return held.settle(granted);
  }

  /** Gives back what is held; what cannot be given back returns when its lease ends. */
  public void giveBack(Claim.Granted granted) {
    held.giveBack(granted);
  }

  /** The same of what is in hand. */
  public void giveBack(BucketId id, Hand hand) {
    if (!hand.leases.isEmpty()) {
      held.giveBack(new Claim.Granted(id, hand.leases));
      hand.leases.clear();
    }
  }

  /**
   * Spends as many tokens as are to be had, up to n, in as few requests as can be. A token that may
   * have been spent and may not counts as not spent.
   *
   * @param found the bucket as it was read just now; empty if it has no row yet
   * @param n 1 to {@value #MOST_TOKENS}
   * @throws InvalidValue if n is out of range
   */
  public Spent spendUpTo(BucketId id, Optional<Bucket> found, int n) {
    InvalidValue.inRange("tokens", n, 1, MOST_TOKENS);
    return found
        .map(read -> spendUpTo(read, n))
        .orElseGet(
            () -> new Spent(0, Optional.of(new Claim.Denied(clock.instant().plus(RECONCILED)))));
  }

  private Spent spendUpTo(Bucket read, int n) {
    Instant now = clock.instant();
    if (read.knownEmptyAt(now)) {
      return new Spent(0, Optional.of(new Claim.Denied(read.nextTokensAt(now, n))));
    }
    CompletableFuture<Void> waking = waking(read, now);
    Hand hand = new Hand();
    Level level = search(read.id(), n, LEASE.plusMillis(10L * n), hand);
    int spent = spent(read.id(), hand.leases);
    int missing = n - spent;
    await(waking);
    if (missing == 0) {
      return new Spent(spent, Optional.empty());
    }
    if (hand.failure.isPresent()) {
      return new Spent(spent, Optional.of(unanswered(read, hand.failure.get())));
    }
    if (hand.leases.size() == n) {
      return new Spent(
          spent, Optional.of(new Claim.Undecided(missing + " tokens could not be spent")));
    }
    Instant then = clock.instant();
    foundEmpty(read, then, Math.max(0, level.held() - hand.leases.size()));
    return new Spent(spent, Optional.of(new Claim.Denied(read.nextTokensAt(then, missing))));
  }

  /** Puts fresh tokens in for n that were spent in vain, see {@link HeldTokens#putBack}. */
  public void putBack(BucketId id, int n) {
    held.putBack(id, n);
  }

  private Claim hold(Bucket read, int n, Duration lease, Hand hand) {
    BucketId id = read.id();
    Instant now = clock.instant();
    if (hand.leases.size() < n && read.knownEmptyAt(now)) {
      read.emptyUntil(now).ifPresent(until -> empty.put(id, until));
      giveBack(id, hand);
      return new Claim.Denied(read.nextTokensAt(now, n));
    }
    CompletableFuture<Void> waking = waking(read, now);
    // A bucket that had to be filled first holds other tokens now than when it was asked.
    hand.asked = hand.asked && !read.needsWakingAt(now);
    Claim claim = contend(read, n, lease, hand);
    await(waking);
    return claim;
  }

  /** Requests that a bucket that hibernates is filled again, and waits if it has no tokens. */
  private CompletableFuture<Void> waking(Bucket read, Instant now) {
    if (!read.needsWakingAt(now)) {
      return read.hibernates() ? request(read) : CompletableFuture.completedFuture(null);
    }
    quietly(
        () -> {
          fills.sendAndWait(read.id());
          return true;
        });
    return CompletableFuture.completedFuture(null);
  }

  private Claim contend(Bucket read, int n, Duration lease, Hand hand) {
    BucketId id = read.id();
    for (int round = 1; ; round++) {
      Level level = search(id, n, lease, hand);
      if (hand.leases.size() == n) {
        return granted(id, hand);
      }
      if (hand.failure.isPresent()) {
        giveBack(id, hand);
        return unanswered(read, hand.failure.get());
      }
      boolean contended = !hand.leases.isEmpty() && level.visible() + level.held() >= n;
      if (!contended || round == ROUNDS) {
        return denied(read, n, hand, level);
      }
      giveBack(id, hand);
      pause.of(Duration.ofMillis(ThreadLocalRandom.current().nextInt(FIRST_PAUSE_MILLIS << round)));
    }
  }

  private Claim granted(BucketId id, Hand hand) {
    empty.remove(id);
    return new Claim.Granted(id, hand.leases);
  }

  /** Nobody knows what the queue holds, unless there is none. */
  private Claim.Shortfall unanswered(Bucket read, Unavailable failure) {
    if (failure instanceof MissingQueue) {
      await(request(read));
      return new Claim.Denied(clock.instant().plus(RECONCILED));
    }
    return new Claim.Undecided(failure.reason());
  }

  private Claim denied(Bucket read, int n, Hand hand, Level level) {
    Instant now = clock.instant();
    int found = hand.leases.size();
    giveBack(read.id(), hand);
    if (found == 0 && (n == 1 || level.visible() == 0)) {
      foundEmpty(read, now, level.held());
    } else if (read.needsFillAt(now)) {
      await(request(read));
    }
    return new Claim.Denied(read.nextTokensAt(now, n - found));
  }

  /** Writes down that the bucket is empty, and requests a fill if nothing is on the way. */
  private void foundEmpty(Bucket read, Instant now, long heldByOthers) {
    Emptiness found = read.foundEmpty(now, heldByOthers);
    empty.put(read.id(), found.until());
    boolean isFirst =
        quietly(() -> buckets.rememberEmpty(read, found))
            .map(written -> written == Written.DONE)
            .orElse(true);
    if (isFirst && read.needsFillAt(now)) {
      await(request(read));
    }
  }

  /** Requests a fill of what was read, unless this process has done so just now. */
  private CompletableFuture<Void> request(Bucket read) {
    Instant now = clock.instant();
    Request request = new Request(read.id(), read.version());
    if (!requested.claim(request, now, now.plus(REQUEST_APART))) {
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
   * Adds tokens to those in hand until there are n or the queue has no more; says what the queue
   * holds besides, if that was asked.
   */
  private Level search(BucketId id, int n, Duration lease, Hand hand) {
    if (!hand.asked) {
      collect(id, n, lease, Search.SHORT, hand);
    }
    hand.asked = false;
    int missing = n - hand.leases.size();
    if (missing == 0 || hand.failure.isPresent()) {
      return new Level(0, 0, 0);
    }
    // A queue that does not tell may hold tokens that others have reserved.
    Level level = quietly(() -> queue.look(id)).orElse(new Level(0, 0, 1));
    if (level.visible() > 0) {
      collect(id, n, lease, Search.LONG, hand);
      // The queue has answered once; that it does not answer again is no reason to admit.
      hand.failure = Optional.empty();
    }
    return level;
  }

  private void collect(BucketId id, int n, Duration lease, Search search, Hand hand) {
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

  /** Receives once in each lane; returns whether every lane got all that it asked for. */
  private boolean collectOnce(BucketId id, int missing, Duration lease, Search search, Hand hand) {
    if (missing <= TokenQueue.BATCH) {
      List<Lease> found = queue.reserve(id, missing, lease, search);
      hand.leases.addAll(found);
      return found.size() == missing;
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
    return hand.leases.size() - before == Math.min(missing, lanes * TokenQueue.BATCH);
  }

  private static Unavailable unavailable(ExecutionException failed) {
    if (failed.getCause() instanceof Unavailable unavailable) {
      return unavailable;
    }
    throw new IllegalStateException(failed.getCause());
  }

  private int spent(BucketId id, List<Lease> leases) {
    if (leases.isEmpty()) {
      return 0;
    }
    Claim.Granted granted = new Claim.Granted(id, leases);
    int unspent = quietly(() -> queue.settle(id, leases)).map(List::size).orElse(leases.size());
    return clock.instant().isBefore(granted.endsAt()) ? leases.size() - unspent : 0;
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

  /** What a claim has in hand: what the queue has given it so far. Not for several threads. */
  public static final class Hand {
    private final List<Lease> leases = new ArrayList<>();
    private Optional<Unavailable> failure = Optional.empty();
    private boolean asked;

    /** Nothing yet. */
    public Hand() {}
  }

  /**
   * What came of a claim of up to n tokens.
   *
   * @param tokens how many were spent
   * @param shortfall why not more, if not all n
   */
  public record Spent(int tokens, Optional<Claim.Shortfall> shortfall) {}
}

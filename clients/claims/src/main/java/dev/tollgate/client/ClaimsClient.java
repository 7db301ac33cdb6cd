package dev.tollgate.client;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.ClaimResult.Shortfall;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.SpendResult;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/** A client that claims through {@link CachedClaims}. */
final class ClaimsClient implements TollgateClient {
  private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
  private static final Duration LONGEST_LEASE = Duration.ofHours(12);

  /** The most concurrent asynchronous claims; further ones wait. */
  private static final int ASYNC_CLAIMS = 64;

  private final CachedClaims cached;
  private final Claims claims;
  private final PlaceClaims places;
  private final ClaimEvents events;
  private final InstantSource clock;
  private final List<Runnable> closing;
  private final ExecutorService async = Threads.upTo(ASYNC_CLAIMS, "tollgate-claims");

  /** Claims in progress hold the read lock; {@link #close} takes the write lock. */
  private final ReadWriteLock open = new ReentrantReadWriteLock();

  private boolean closed;

  /**
   * A client over these claims.
   *
   * @param cached claims tokens by the rows that this process has read
   * @param claims claims tokens by a row just read
   * @param closing actions that close resources, in this order
   */
  ClaimsClient(
      CachedClaims cached,
      Claims claims,
      InstantSource clock,
      ClaimListener listener,
      List<Runnable> closing) {
    this.cached = cached;
    this.claims = claims;
    this.clock = clock;
    this.places = new PlaceClaims(clock);
    this.events = new ClaimEvents(listener, clock);
    this.closing = List.copyOf(closing);
  }

  /**
   * A function that reads a bucket, and throws {@link UnknownBucket} if it is missing. Every tenant
   * has a {@code connect} bucket, so that bucket shows whether the tenant exists.
   */
  static Function<BucketId, Bucket> reader(Function<BucketId, Optional<Bucket>> buckets) {
    return id ->
        buckets
            .apply(id)
            .orElseThrow(
                () ->
                    new UnknownBucket(
                        id.tenant().value(),
                        id.action().value(),
                        !id.action().equals(Action.CONNECT)
                            && buckets
                                .apply(new BucketId(id.tenant(), Action.CONNECT))
                                .isPresent()));
  }

  @Override
  public TokenBucket bucket(String tenantId, String action) {
    return new Handle(id(tenantId, action));
  }

  /**
   * {@inheritDoc}
   *
   * <p>All claims hold the buckets' tokens in one order. So of two claims for the last tokens of
   * several buckets, one gets them all.
   */
  @Override
  public Claim tryClaimEach(String tenantId, Collection<String> actions, int n) {
    InvalidValue.unless(actions != null, "actions", actions, "the actions of buckets");
    List<Handle> buckets =
        actions.stream()
            .map(action -> id(tenantId, action))
            .distinct()
            .sorted(Comparator.comparing(id -> id.action().value()))
            .map(Handle::new)
            .toList();
    InvalidValue.inRange("actions", buckets.size(), 1, MAX_BUCKETS);
    InvalidValue.inRange("tokens", n, 1, Claims.MAX_TOKENS);
    // A client that closed between two buckets would spend the tokens of the first one alone.
    return whileOpen(() -> claimEach(buckets, n));
  }

  private Claim claimEach(List<Handle> buckets, int n) {
    Duration lease = Duration.ofSeconds(Claims.leaseToSpend(n * buckets.size()).toSeconds());
    List<Held> held = new ArrayList<>();
    try {
      for (Handle bucket : buckets) {
        ReserveResult result = bucket.reserve(n, lease);
        if (result instanceof Claim.Shortfall refused) {
          return refused;
        }
        held.add((Held) result);
      }
      return spendEach(held, n);
    } finally {
      held.forEach(Held::close);
    }
  }

  private Claim spendEach(List<Held> held, int n) {
    for (int i = 0; i < held.size(); i++) {
      Optional<Claim.Shortfall> refused = held.get(i).spendOrReturn();
      if (refused.isPresent()) {
        held.subList(0, i).forEach(Held::replace);
        return refused.get();
      }
    }
    return new Claim.Granted(n);
  }

  /**
   * The id of a bucket.
   *
   * @throws InvalidValue if a name is malformed or missing
   */
  static BucketId id(String tenantId, String action) {
    InvalidValue.unless(tenantId != null, "tenantId", tenantId, "a tenant's id");
    InvalidValue.unless(action != null, "action", action, "what the tokens pay for");
    return new BucketId(new TenantId(tenantId), new Action(action));
  }

  @Override
  public void close() {
    open.writeLock().lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
    } finally {
      open.writeLock().unlock();
    }
    async.shutdown();
    cached.close();
    closing.forEach(Runnable::run);
  }

  private <T> T whileOpen(Supplier<T> work) {
    return ifOpen(work).orElseThrow(ClaimsClient::isClosed);
  }

  private <T> Optional<T> ifOpen(Supplier<T> work) {
    open.readLock().lock();
    try {
      return closed ? Optional.empty() : Optional.of(work.get());
    } finally {
      open.readLock().unlock();
    }
  }

  private static IllegalStateException isClosed() {
    return new IllegalStateException("The TollgateClient is closed.");
  }

  private <T> CompletionStage<T> later(Supplier<T> work) {
    CompletableFuture<T> stage = new CompletableFuture<>();
    try {
      async.execute(() -> complete(stage, work));
    } catch (RejectedExecutionException rejected) {
      stage.completeExceptionally(isClosed());
    }
    return stage;
  }

  /** Does the work, unless the caller has completed the stage, for example by cancelling it. */
  private static <T> void complete(CompletableFuture<T> stage, Supplier<T> work) {
    if (stage.isDone()) {
      return;
    }
    try {
      T answer = work.get();
      if (!stage.complete(answer) && answer instanceof Reservation unclaimed) {
        unclaimed.close();
      }
    } catch (Throwable failure) {
      stage.completeExceptionally(failure);
    }
  }

  private final class Handle implements TokenBucket {
    private final BucketId id;

    Handle(BucketId id) {
      this.id = id;
    }

    @Override
    public String tenantId() {
      return id.tenant().value();
    }

    @Override
    public String action() {
      return id.action().value();
    }

    @Override
    public Claim claimInLine() {
      return claimOne(Optional.empty());
    }

    @Override
    public Claim claimInLine(String caller) {
      InvalidValue.unless(caller != null && !caller.isEmpty(), "caller", caller, "a key");
      return claimOne(
          places.heldBy(id, caller),
          (row, first) -> places.claim(row, caller, waiting -> claims.spend(row, waiting, first)));
    }

    @Override
    public Claim claim(Place place) {
      InvalidValue.unless(place != null, "place", place, "a place that a refusal had");
      InvalidValue.unless(
          place.bucket().equals(id),
          "place",
          place,
          "a place of tenant %s, action %s".formatted(tenantId(), action()));
      return claimOne(Optional.of(place.inLine()));
    }

    private Claim claimOne(Optional<dev.tollgate.core.bucket.Place> place) {
      return claimOne(
          place,
          (row, first) -> places.claim(row, place, waiting -> claims.spend(row, waiting, first)));
    }

    private Claim claimOne(
        Optional<dev.tollgate.core.bucket.Place> place,
        BiFunction<Bucket, Attempt, dev.tollgate.core.bucket.claim.ClaimResult> claim) {
      return spend(1, () -> cached.spendInLine(id, row -> places.waiting(row, place), claim));
    }

    @Override
    public Claim tryClaim(int n) {
      requireTokens(n);
      return spend(n, () -> cached.spend(id, n));
    }

    private Claim spend(int n, Supplier<dev.tollgate.core.bucket.claim.ClaimResult> spending) {
      ClaimEvents.Call started = events.start(id);
      var claim = whileOpen(() -> ask(spending));
      if (claim instanceof Shortfall shortfall) {
        return started.refused(n, shortfall);
      }
      started.claimed(n);
      return new Claim.Granted(n);
    }

    @Override
    public Claimed claimUpTo(int n) {
      requireTokens(n);
      ClaimEvents.Call started = events.start(id);
      SpendResult spent = whileOpen(() -> spendUpTo(n));
      if (spent.tokens() > 0) {
        started.claimed(spent.tokens());
      }
      return new Claimed(
          spent.tokens(),
          spent.shortfall().map(shortfall -> started.refused(n - spent.tokens(), shortfall)));
    }

    private SpendResult spendUpTo(int n) {
      try {
        return cached.spendUpTo(id, n);
      } catch (Unavailable unavailable) {
        return new SpendResult(
            0,
            Optional.of(dev.tollgate.core.bucket.claim.ClaimResult.Undecided.after(unavailable)));
      }
    }

    @Override
    public ReserveResult reserve(int n, Duration lease) {
      requireTokens(n);
      InvalidValue.unless(
          lease.compareTo(SHORTEST_LEASE) >= 0
              && lease.compareTo(LONGEST_LEASE) <= 0
              && lease.equals(Duration.ofSeconds(lease.toSeconds())),
          "lease",
          lease,
          SHORTEST_LEASE + " to " + LONGEST_LEASE + " in whole seconds");
      ClaimEvents.Call started = events.start(id);
      var claim = whileOpen(() -> ask(() -> cached.hold(id, n, lease)));
      if (claim instanceof dev.tollgate.core.bucket.claim.ClaimResult.Granted granted) {
        reportReserved(started, granted);
        return new Held(granted);
      }
      return started.refused(n, (Shortfall) claim);
    }

    /**
     * Reports a reservation. If the listener throws a fatal error, returns the tokens, because the
     * caller gets no reservation to return.
     */
    private void reportReserved(
        ClaimEvents.Call started, dev.tollgate.core.bucket.claim.ClaimResult.Granted granted) {
      try {
        started.reserved(granted.leases().size());
      } catch (VirtualMachineError fatal) {
        claims.held().giveBack(granted);
        throw fatal;
      }
    }

    @Override
    public CompletionStage<Claim> claimInLineAsync() {
      return later(this::claimInLine);
    }

    @Override
    public CompletionStage<Claim> claimInLineAsync(String caller) {
      return later(() -> claimInLine(caller));
    }

    @Override
    public CompletionStage<Claim> claimAsync(Place place) {
      return later(() -> claim(place));
    }

    @Override
    public CompletionStage<Claim> tryClaimAsync(int n) {
      return later(() -> tryClaim(n));
    }

    @Override
    public CompletionStage<Claimed> claimUpToAsync(int n) {
      return later(() -> claimUpTo(n));
    }

    @Override
    public CompletionStage<ReserveResult> reserveAsync(int n, Duration lease) {
      return later(() -> reserve(n, lease));
    }

    @Override
    public String toString() {
      return id.toString();
    }

    /** Rejects a number that no bucket supports, before any request. */
    private static void requireTokens(int n) {
      InvalidValue.inRange("tokens", n, 1, Claims.MAX_TOKENS);
    }

    private dev.tollgate.core.bucket.claim.ClaimResult ask(
        Supplier<dev.tollgate.core.bucket.claim.ClaimResult> claim) {
      try {
        return claim.get();
      } catch (Unavailable unavailable) {
        return dev.tollgate.core.bucket.claim.ClaimResult.Undecided.after(unavailable);
      }
    }
  }

  private final class Held implements Reservation {
    private final dev.tollgate.core.bucket.claim.ClaimResult.Granted granted;
    private final AtomicBoolean settled = new AtomicBoolean();

    Held(dev.tollgate.core.bucket.claim.ClaimResult.Granted granted) {
      this.granted = granted;
    }

    @Override
    public int tokens() {
      return granted.leases().size();
    }

    @Override
    public Instant endsAt() {
      return granted.endsAt();
    }

    @Override
    public Settlement spend() {
      ClaimEvents.Call started = events.start(granted.bucket());
      Settlement settlement = whileOpen(this::settle);
      started.settled(tokens(), settlement);
      return settlement;
    }

    /** Spends the tokens, or returns them if they cannot be spent; empty if they were spent. */
    private Optional<Claim.Shortfall> spendOrReturn() {
      ClaimEvents.Call started = events.start(granted.bucket());
      settleOnce();
      var claim = claims.held().spend(granted);
      if (claim instanceof dev.tollgate.core.bucket.claim.ClaimResult.Undecided undecided) {
        started.settled(tokens(), new Settlement.Unknown(undecided.cause()));
        return Optional.of(new Claim.Undecided(undecided.cause()));
      }
      if (claim instanceof dev.tollgate.core.bucket.claim.ClaimResult.Denied denied) {
        started.returned(tokens());
        return Optional.of(new Claim.Denied(denied.retryAt()));
      }
      started.settled(tokens(), new Settlement.Spent());
      return Optional.empty();
    }

    private void settleOnce() {
      if (!settled.compareAndSet(false, true)) {
        throw new IllegalStateException("The reservation was already spent or returned.");
      }
    }

    private Settlement settle() {
      settleOnce();
      var settlement = claims.held().settle(granted);
      if (settlement instanceof dev.tollgate.core.bucket.claim.SettleResult.Spent) {
        return new Settlement.Spent();
      }
      if (settlement instanceof dev.tollgate.core.bucket.claim.SettleResult.NotSpent notSpent) {
        return new Settlement.Unknown(notSpent.cause());
      }
      return settlement instanceof dev.tollgate.core.bucket.claim.SettleResult.Unanswered unanswered
          ? new Settlement.Unknown(unanswered.cause())
          : new Settlement.Lapsed();
    }

    /** Puts new tokens in the place of spent ones, because other tokens could not be spent. */
    private void replace() {
      claims.held().putBack(granted);
    }

    @Override
    public void close() {
      ClaimEvents.Call started = events.start(granted.bucket());
      if (ifOpen(this::giveBack).orElse(false)) {
        started.returned(tokens());
      }
    }

    private boolean giveBack() {
      boolean first = settled.compareAndSet(false, true);
      if (first) {
        claims.held().giveBack(granted);
      }
      return first;
    }
  }
}

package dev.tollgate.core.connect;

import dev.tollgate.core.Action;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.claim.SettleResult;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.CountResult;
import dev.tollgate.core.session.Connections.JoinResult;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.tenant.OnUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Registers a connection and spends its token with three concurrent requests: to the session's set,
 * the tenant's count and the queue. If one of them is refused, the others are undone, so a token is
 * spent if and only if the connection is admitted.
 *
 * <h2>Races</h2>
 *
 * Concurrent connections near both limits take a place in the session and one in the tenant's
 * count, in any order. Some may get a place only in the session, others only in the count. A
 * connection that got only the count undoes it at once. A connection that got only the place in its
 * session keeps it and retries the count, for longer than the others need to undo theirs. So all
 * places are used, and none twice.
 */
public final class Registration {
  /**
   * A lease that ends sooner counts as ended: spending takes time too, and the authorizer's clock,
   * which measured the lease, may be some seconds ahead.
   */
  private static final Duration MARGIN = Duration.ofSeconds(5);

  private static final List<Duration> COUNT_RETRY_PAUSES =
      List.of(
          Duration.ofMillis(25),
          Duration.ofMillis(50),
          Duration.ofMillis(100),
          Duration.ofMillis(200),
          Duration.ofMillis(400));

  private final Connections connections;
  private final HeldTokens tokens;
  private final RefusalTally tally;
  private final Enforcement enforcement;
  private final Executor executor;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * A registration in {@code connections} that spends {@code tokens}.
   *
   * @param tally counts the refusals
   * @param enforcement whether a limit may refuse a connection
   * @param executor runs the three requests concurrently
   */
  public Registration(
      Connections connections,
      HeldTokens tokens,
      RefusalTally tally,
      Enforcement enforcement,
      Executor executor,
      Pause pause,
      InstantSource clock) {
    this.connections = connections;
    this.tokens = tokens;
    this.tally = tally;
    this.enforcement = enforcement;
    this.executor = executor;
    this.pause = pause;
    this.clock = clock;
  }

  /** Registers the connection of a ticket. */
  public Result register(Ticket ticket, String connectionId) {
    return tally.writeRestDuring(() -> registration(ticket, connectionId));
  }

  /**
   * Undoes a registration, because the application refused the connection. The connection is
   * removed and uncounted, its token replaced by a new one, and its use of the session's rate given
   * back. The count is only lowered by the call that removed the connection. What cannot be removed
   * now is found by the housekeeper; a token that cannot be replaced is lost.
   *
   * <p>A use counts for one interval of the rate, of which {@code took} may have passed. Only the
   * rest is given back, so that the rate is not exceeded.
   *
   * @param took the time since the registration began
   */
  public void undo(Ticket ticket, String connectionId, Registered registered, Duration took) {
    Ticket used = registered.wouldRefuse().map(ticket::letThrough).orElse(ticket);
    Duration rest = used.bounds().sessionRate().interval().minus(took);
    Optional<LeaveResult> left =
        leave(ticket, connectionId, rest.isNegative() ? Duration.ZERO : rest);
    if (is(left, LeaveResult.REMOVED)) {
      unlessUnavailable(
          () -> {
            connections.undoCountUp(ticket.tenant(), connectionId, registered.tokenSpent());
            return true;
          });
    }
    if (registered.tokenSpent()) {
      tokens.putBack(bucket(ticket), 1);
    }
  }

  private Optional<LeaveResult> leave(Ticket ticket, String connectionId, Duration back) {
    return unlessUnavailable(
        () -> connections.leave(ticket.tenant(), ticket.session(), connectionId, back));
  }

  private Result registration(Ticket ticket, String connectionId) {
    Instant now = clock.instant();
    if (ticket.lease().isPresent() && !ticket.lease().get().holdsAt(now.plus(MARGIN))) {
      return ticket.bounds().observes(Refusal.LEASE_ENDED)
          ? registration(ticket.letThrough(Refusal.LEASE_ENDED), connectionId)
          : refused(ticket, connectionId, Refusal.LEASE_ENDED, () -> {});
    }
    CompletableFuture<Optional<JoinResult>> joining = start(() -> join(ticket, connectionId, now));
    CompletableFuture<Optional<CountResult>> counting =
        start(() -> count(ticket, connectionId, now));
    Optional<SettleResult> settlement = ticket.lease().map(lease -> settle(ticket, lease));
    boolean spent = settlement.filter(SettleResult.Spent.class::isInstance).isPresent();
    Joined joined = letThrough(ticket, connectionId, joining.join(), now);
    Counted counted =
        letThrough(
            joined,
            new Counted(joined.ticket(), counting.join(), ticket.lease().isPresent()),
            connectionId,
            now);
    Ticket used = counted.ticket();
    Optional<Refusal> refusal = refusal(joined.result(), counted.result());
    // A repeated event has spent a token before.
    if (refusal.isEmpty() && !is(joined.result(), JoinResult.ALREADY_JOINED)) {
      refusal = settlement.flatMap(known -> refusal(ticket, known));
      if (refusal.filter(ticket.bounds()::observes).isPresent()) {
        used = used.letThrough(refusal.get());
        refusal = Optional.empty();
      }
    }
    if (refusal.isPresent()) {
      return refused(
          ticket,
          connectionId,
          refusal.get(),
          () -> undo(ticket, connectionId, joined.result(), counted, spent));
    }
    boolean isRepeated = is(joined.result(), JoinResult.ALREADY_JOINED);
    if (isRepeated && is(counted.result(), CountResult.COUNTED)) {
      undoCount(ticket, connectionId, counted);
      return new Registered(spent, Optional.empty());
    }
    // A connection that an observed rate would refuse keeps no token. It is counted as one without
    // first: if that fails, the token stays spent, so that no more are admitted than are gone.
    boolean keepsToken = spent && used.lease().isPresent();
    if (is(counted.result(), CountResult.COUNTED) && counted.withToken() && !keepsToken) {
      keepsToken = unlessUnavailable(() -> countWithoutToken(ticket)).isEmpty() && spent;
    }
    if (spent && !keepsToken) {
      tokens.putBack(bucket(ticket), 1);
    }
    Optional<Refusal> wouldRefuse = isRepeated ? Optional.empty() : used.wouldRefuse();
    wouldRefuse.ifPresent(why -> tally.countObserved(ticket.tenant(), why));
    return new Registered(keepsToken, wouldRefuse);
  }

  /** Joins again without observed limits, if one of them refused. */
  private Joined letThrough(
      Ticket ticket, String connectionId, Optional<JoinResult> joined, Instant now) {
    Optional<Refusal> observed =
        joined.flatMap(Registration::refusal).filter(ticket.bounds()::observes);
    return observed
        .map(ticket::letThrough)
        .map(next -> new Joined(next, unlessUnavailable(() -> join(next, connectionId, now))))
        .orElse(new Joined(ticket, joined));
  }

  /**
   * Counts a connection again that got a place in its session and none in the count: it retries,
   * and then goes on without observed limits.
   */
  private Counted letThrough(Joined joined, Counted first, String connectionId, Instant now) {
    if (!is(joined.result(), JoinResult.ADDED) || !is(first.result(), CountResult.FULL)) {
      return first;
    }
    Ticket ticket = joined.ticket();
    Counted again = countAgain(ticket, connectionId, now);
    if (!is(again.result(), CountResult.FULL)
        || !ticket.bounds().observes(Refusal.TENANT_CONNECTIONS)) {
      return again;
    }
    return tryCount(ticket.letThrough(Refusal.TENANT_CONNECTIONS), connectionId, now);
  }

  /**
   * What came of the request to the session.
   *
   * @param ticket the ticket of the last try
   */
  private record Joined(Ticket ticket, Optional<JoinResult> result) {}

  /**
   * What came of the request to the count.
   *
   * @param ticket the ticket of the last try
   * @param withToken whether it counted the connection as one with a token
   */
  private record Counted(Ticket ticket, Optional<CountResult> result, boolean withToken) {}

  /**
   * Refuses a connection, or registers it without limits if a limit refuses it and limits are
   * lifted: the process that issued the ticket need not know that they are.
   */
  private Result refused(Ticket ticket, String connectionId, Refusal why, Runnable undoing) {
    if (why.limit().isPresent() && !ticket.isWithoutLimits() && enforcement.lifted().isPresent()) {
      undoing.run();
      return registration(ticket.withoutLimits(), connectionId);
    }
    tally.count(ticket.tenant(), why, undoing);
    return new NotRegistered(why);
  }

  /**
   * Unless the token is certainly spent, a connection is admitted only if the queue did not respond
   * and the tier admits then.
   */
  private static Optional<Refusal> refusal(Ticket ticket, SettleResult settlement) {
    if (settlement instanceof SettleResult.Spent) {
      return Optional.empty();
    }
    if (settlement instanceof SettleResult.Lapsed) {
      return Optional.of(Refusal.LEASE_ENDED);
    }
    return settlement instanceof SettleResult.Unanswered
            && ticket.onUnavailable() == OnUnavailable.ADMIT
        ? Optional.empty()
        : Optional.of(Refusal.UNDECIDED);
  }

  private static Optional<Refusal> refusal(
      Optional<JoinResult> joined, Optional<CountResult> counted) {
    if (joined.isEmpty()) {
      return Optional.of(Refusal.UNDECIDED);
    }
    return joined.get() == JoinResult.ADDED ? countRefusal(counted) : refusal(joined.get());
  }

  private static Optional<Refusal> refusal(JoinResult joined) {
    return switch (joined) {
      case ADDED, ALREADY_JOINED -> Optional.empty();
      case FULL -> Optional.of(Refusal.SESSION_CONNECTIONS);
      case TOO_SOON -> Optional.of(Refusal.SESSION_RATE);
      case PLACE_USED -> Optional.of(Refusal.TENANT_RATE);
      case NO_SESSION -> Optional.of(Refusal.UNKNOWN);
    };
  }

  private static Optional<Refusal> countRefusal(Optional<CountResult> counted) {
    if (counted.isEmpty()) {
      return Optional.of(Refusal.UNDECIDED);
    }
    return counted.get() == CountResult.FULL
        ? Optional.of(Refusal.TENANT_CONNECTIONS)
        : Optional.empty();
  }

  private JoinResult join(Ticket ticket, String connectionId, Instant now) {
    Instant end = now.plusSeconds(ticket.sessionTtl());
    return connections.join(
        ticket.tenant(),
        ticket.session(),
        connectionId,
        ticket.bounds().connectionsPerSession(),
        ticket.bounds().sessionRate(),
        ticket.arrival(),
        ticket.place(),
        ticket.latestEnd().filter(end::isAfter).orElse(end),
        now);
  }

  private CountResult count(Ticket ticket, String connectionId, Instant now) {
    return connections.countUp(
        ticket.tenant(),
        connectionId,
        ticket.bounds().tenantConnections(),
        ticket.lease().isPresent(),
        now);
  }

  private boolean countWithoutToken(Ticket ticket) {
    connections.countWithoutToken(ticket.tenant());
    return true;
  }

  private Counted tryCount(Ticket ticket, String connectionId, Instant now) {
    return new Counted(
        ticket,
        unlessUnavailable(() -> count(ticket, connectionId, now)),
        ticket.lease().isPresent());
  }

  private void undoCount(Ticket ticket, String connectionId, Counted counted) {
    connections.undoCountUp(ticket.tenant(), connectionId, counted.withToken());
  }

  private Counted countAgain(Ticket ticket, String connectionId, Instant now) {
    Counted counted = tryCountAfter(COUNT_RETRY_PAUSES.get(0), ticket, connectionId, now);
    for (Duration wait : COUNT_RETRY_PAUSES.subList(1, COUNT_RETRY_PAUSES.size())) {
      if (!is(counted.result(), CountResult.FULL)) {
        return counted;
      }
      counted = tryCountAfter(wait, ticket, connectionId, now);
    }
    return counted;
  }

  private Counted tryCountAfter(Duration wait, Ticket ticket, String connectionId, Instant now) {
    pause.of(wait);
    return tryCount(ticket, connectionId, now);
  }

  private SettleResult settle(Ticket ticket, Lease lease) {
    return tokens.settle(new ClaimResult.Granted(bucket(ticket), List.of(lease)));
  }

  /**
   * Undoes what was done. A write without a response may have been done. Leaving a session twice
   * has no effect, so it is undone too; but the count is only lowered if it was certainly raised,
   * and a recount repairs the rest.
   */
  private void undo(
      Ticket ticket,
      String connectionId,
      Optional<JoinResult> joined,
      Counted counted,
      boolean spent) {
    if (joined.isEmpty() || joined.get() == JoinResult.ADDED) {
      leave(ticket, connectionId, Duration.ZERO);
    }
    if (is(counted.result(), CountResult.COUNTED)) {
      unlessUnavailable(
          () -> {
            undoCount(ticket, connectionId, counted);
            return true;
          });
    }
    if (spent) {
      tokens.putBack(bucket(ticket), 1);
    }
  }

  private static BucketId bucket(Ticket ticket) {
    return new BucketId(ticket.tenant(), Action.CONNECT);
  }

  private <T> CompletableFuture<Optional<T>> start(Supplier<T> request) {
    return CompletableFuture.supplyAsync(() -> unlessUnavailable(request), executor);
  }

  private static <T> Optional<T> unlessUnavailable(Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  private static <T> boolean is(Optional<T> answer, T wanted) {
    return answer.isPresent() && answer.get() == wanted;
  }

  /** The result of a registration. */
  public sealed interface Result {}

  /**
   * The connection is registered.
   *
   * @param tokenSpent whether a token was spent; false if it needed none, or if the queue failed
   *     and the tier admits then
   * @param wouldRefuse why an observed limit would have refused it; empty if none would
   */
  public record Registered(boolean tokenSpent, Optional<Refusal> wouldRefuse) implements Result {
    /** A connection that no observed limit would have refused. */
    public Registered(boolean tokenSpent) {
      this(tokenSpent, Optional.empty());
    }
  }

  /** The connection is refused, and everything is undone. */
  public record NotRegistered(Refusal refusal) implements Result {}
}

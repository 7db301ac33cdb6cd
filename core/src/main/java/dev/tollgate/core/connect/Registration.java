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
import dev.tollgate.core.session.Gcra;
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

  private Result registration(Ticket ticket, String connectionId) {
    Instant now = clock.instant();
    if (ticket.lease().isPresent() && !ticket.lease().get().holdsAt(now.plus(MARGIN))) {
      return refused(ticket, connectionId, Refusal.LEASE_ENDED, () -> {});
    }
    CompletableFuture<Optional<JoinResult>> joining = start(() -> join(ticket, connectionId, now));
    CompletableFuture<Optional<CountResult>> counting =
        start(() -> count(ticket, connectionId, now));
    Optional<SettleResult> settlement = ticket.lease().map(lease -> settle(ticket, lease));
    boolean spent = settlement.filter(SettleResult.Spent.class::isInstance).isPresent();
    Optional<JoinResult> joined = joining.join();
    Optional<CountResult> counted = counting.join();
    if (is(joined, JoinResult.ADDED) && is(counted, CountResult.FULL)) {
      counted = countAgain(ticket, connectionId, now);
    }
    Optional<Refusal> refusal = refusal(joined, counted);
    // A repeated event has spent a token before.
    if (refusal.isEmpty() && !is(joined, JoinResult.ALREADY_JOINED)) {
      refusal = settlement.flatMap(known -> refusal(ticket, known));
    }
    if (refusal.isEmpty()) {
      if (is(joined, JoinResult.ALREADY_JOINED) && is(counted, CountResult.COUNTED)) {
        undoCount(ticket, connectionId);
      } else if (settlement.isPresent() && !spent) {
        unlessUnavailable(
            () -> {
              connections.countWithoutToken(ticket.tenant());
              return true;
            });
      }
      return new Registered(spent);
    }
    Optional<CountResult> done = counted;
    return refused(
        ticket, connectionId, refusal.get(), () -> undo(ticket, connectionId, joined, done, spent));
  }

  /**
   * Refuses a connection, or registers it without limits if a limit refuses it and limits are
   * lifted: the process that issued the ticket need not know that they are.
   */
  private Result refused(Ticket ticket, String connectionId, Refusal why, Runnable undoing) {
    if (why.isByLimit() && !ticket.isWithoutLimits() && enforcement.lifted().isPresent()) {
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
    return switch (joined.get()) {
      case ALREADY_JOINED -> Optional.empty();
      case FULL -> Optional.of(Refusal.SESSION_CONNECTIONS);
      case TOO_SOON -> Optional.of(Refusal.SESSION_RATE);
      case PLACE_USED -> Optional.of(Refusal.TENANT_RATE);
      case NO_SESSION -> Optional.of(Refusal.UNKNOWN);
      case ADDED -> countRefusal(counted);
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
        ticket.connectionsPerSession(),
        Gcra.perMinute(ticket.sessionPerMinute()),
        ticket.arrival(),
        ticket.place(),
        ticket.latestEnd().filter(end::isAfter).orElse(end),
        now);
  }

  private CountResult count(Ticket ticket, String connectionId, Instant now) {
    return connections.countUp(
        ticket.tenant(), connectionId, ticket.tenantConnections(), ticket.lease().isPresent(), now);
  }

  private void undoCount(Ticket ticket, String connectionId) {
    connections.undoCountUp(ticket.tenant(), connectionId, ticket.lease().isPresent());
  }

  private Optional<CountResult> countAgain(Ticket ticket, String connectionId, Instant now) {
    Optional<CountResult> counted = Optional.of(CountResult.FULL);
    for (Duration wait : COUNT_RETRY_PAUSES) {
      pause.of(wait);
      counted = unlessUnavailable(() -> count(ticket, connectionId, now));
      if (!is(counted, CountResult.FULL)) {
        return counted;
      }
    }
    return counted;
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
      Optional<CountResult> counted,
      boolean spent) {
    if (joined.isEmpty() || joined.get() == JoinResult.ADDED) {
      unlessUnavailable(() -> connections.leave(ticket.tenant(), ticket.session(), connectionId));
    }
    if (is(counted, CountResult.COUNTED)) {
      unlessUnavailable(
          () -> {
            undoCount(ticket, connectionId);
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
   * @param tokenSpent whether a token was spent; false if the queue failed and the tier admits then
   */
  public record Registered(boolean tokenSpent) implements Result {}

  /** The connection is refused, and everything is undone. */
  public record NotRegistered(Refusal refusal) implements Result {}
}

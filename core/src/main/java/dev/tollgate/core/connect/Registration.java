package dev.tollgate.core.connect;

import dev.tollgate.core.Action;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.claim.SettleResult;
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
 * Registers a connection and spends its token, all at once and one step deep: the session's set,
 * the tenant's count and the token are three requests that go out together. What was done in vain
 * is undone, so that a token is spent if and only if a connection is admitted.
 *
 * <h2>Races</h2>
 *
 * Of many connections that race for the last places, each takes a place in its session and one in
 * its tenant's count, in any order. If both limits are short, some connections may get the one
 * place and some the other. Whoever got only the count steps back at once. Whoever got only the
 * place in the session keeps it and asks for the count again, for longer than the others need to
 * step back. So the places all go to somebody, and never to more than there are places.
 */
public final class Registration {
  /**
   * A token is not spent so shortly before its lease ends: the spending takes time too, and the
   * clock that the lease was measured by may be some seconds ahead of this one.
   */
  private static final Duration MARGIN = Duration.ofSeconds(5);

  private static final List<Duration> COUNT_AGAIN_AFTER =
      List.of(
          Duration.ofMillis(25),
          Duration.ofMillis(50),
          Duration.ofMillis(100),
          Duration.ofMillis(200),
          Duration.ofMillis(400));

  private final Connections connections;
  private final HeldTokens tokens;
  private final RefusalTally tally;
  private final Executor executor;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * A registration in {@code connections} that spends {@code tokens}.
   *
   * @param tally counts whom it refuses
   * @param executor runs the three requests beside each other
   */
  public Registration(
      Connections connections,
      HeldTokens tokens,
      RefusalTally tally,
      Executor executor,
      Pause pause,
      InstantSource clock) {
    this.connections = connections;
    this.tokens = tokens;
    this.tally = tally;
    this.executor = executor;
    this.pause = pause;
    this.clock = clock;
  }

  /** Registers the connection of a ticket. */
  public Result register(Ticket ticket, String connectionId) {
    Instant now = clock.instant();
    if (ticket.lease().isPresent() && !ticket.lease().get().holdsAt(now.plus(MARGIN))) {
      tally.count(ticket.tenant(), Refusal.LEASE_ENDED, () -> {});
      return new NotRegistered(Refusal.LEASE_ENDED);
    }
    CompletableFuture<Optional<JoinResult>> joining = ask(() -> join(ticket, connectionId, now));
    CompletableFuture<Optional<CountResult>> counting = ask(() -> count(ticket, connectionId));
    Optional<SettleResult> settlement = ticket.lease().map(lease -> settle(ticket, lease));
    boolean spent = settlement.filter(SettleResult.Spent.class::isInstance).isPresent();
    Optional<JoinResult> joined = joining.join();
    Optional<CountResult> counted = counting.join();
    if (isIn(joined, JoinResult.ADDED) && isIn(counted, CountResult.FULL)) {
      counted = countAgain(ticket, connectionId);
    }
    Optional<Refusal> refusal = refusal(joined, counted);
    // An event that comes twice has been paid for.
    if (refusal.isEmpty() && !isIn(joined, JoinResult.ALREADY_JOINED)) {
      refusal = settlement.flatMap(known -> refusal(ticket, known));
    }
    if (refusal.isEmpty()) {
      if (isIn(joined, JoinResult.ALREADY_JOINED) && isIn(counted, CountResult.COUNTED)) {
        connections.undoCountUp(ticket.tenant(), connectionId);
      }
      return new Registered(spent);
    }
    Optional<CountResult> done = counted;
    Refusal why = refusal.get();
    tally.count(ticket.tenant(), why, () -> undo(ticket, connectionId, joined, done, spent));
    return new NotRegistered(why);
  }

  /** Without a token that is spent for certain, only a silent queue and the tier together admit. */
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
        ticket.latestEnd().filter(end::isAfter).orElse(end),
        now);
  }

  private CountResult count(Ticket ticket, String connectionId) {
    return connections.countUp(ticket.tenant(), connectionId, ticket.tenantConnections());
  }

  private Optional<CountResult> countAgain(Ticket ticket, String connectionId) {
    Optional<CountResult> counted = Optional.of(CountResult.FULL);
    for (Duration wait : COUNT_AGAIN_AFTER) {
      pause.of(wait);
      counted = unlessUnavailable(() -> count(ticket, connectionId));
      if (!isIn(counted, CountResult.FULL)) {
        return counted;
      }
    }
    return counted;
  }

  private SettleResult settle(Ticket ticket, Lease lease) {
    return tokens.settle(new ClaimResult.Granted(bucket(ticket), List.of(lease)));
  }

  /**
   * Takes back what was done. A write that was not answered may have been done: leaving a session
   * twice is harmless, but a count is not lowered on suspicion; whoever repairs counts finds it.
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
    if (isIn(counted, CountResult.COUNTED)) {
      unlessUnavailable(
          () -> {
            connections.undoCountUp(ticket.tenant(), connectionId);
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

  private <T> CompletableFuture<Optional<T>> ask(Supplier<T> request) {
    return CompletableFuture.supplyAsync(() -> unlessUnavailable(request), executor);
  }

  private static <T> Optional<T> unlessUnavailable(Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  private static <T> boolean isIn(Optional<T> answer, T wanted) {
    return answer.isPresent() && answer.get() == wanted;
  }

  /** What became of a connection. */
  public sealed interface Result {}

  /**
   * It is registered.
   *
   * @param tokenSpent whether a token was spent for it; not if the bucket could not be asked
   */
  public record Registered(boolean tokenSpent) implements Result {}

  /** It is not, and nothing of it is left. */
  public record NotRegistered(Refusal refusal) implements Result {}
}

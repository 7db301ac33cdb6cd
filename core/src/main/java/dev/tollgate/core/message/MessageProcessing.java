package dev.tollgate.core.message;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.admission.Departure;
import dev.tollgate.core.admission.FactsReader;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Claim;
import dev.tollgate.core.bucket.TokenClaims;
import dev.tollgate.core.bucket.TokenClaims.Spent;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Processes a batch of messages: pays for them, lets the application handle them, and tells the
 * sockets of their sessions. Tenants, and the sessions of one, do not wait for each other; the
 * messages of one session keep their order.
 *
 * <p>Tokens are spent before the messages are handled, not after: a handler may run for as long as
 * it likes, while a lease that has ended in the meantime can no longer be spent, so that the
 * message would be free. A message that then fails gets its token back.
 *
 * <p>First come, first served: if there are fewer tokens than messages, the first messages of the
 * batch have them.
 *
 * <p>The rules look at the tenant, not at the session: what was accepted is done, also when its
 * session has ended since. Only nobody is told.
 */
public final class MessageProcessing {
  /** A handshake takes no longer: API Gateway gives up its integrations before. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(30);

  private final FactsReader tenants;
  private final MessageFactsReader reader;
  private final TokenClaims claims;
  private final Sessions sessions;
  private final Sockets sockets;
  private final Departure departure;
  private final Frames frames;
  private final TenantMessageHandler handler;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * A processing of messages by {@code handler}.
   *
   * @param executor runs tenants, sessions and sockets beside each other; tasks wait for tasks, so
   *     it must never make one wait for a thread
   */
  public MessageProcessing(
      FactsReader tenants,
      MessageFactsReader reader,
      TokenClaims claims,
      Sessions sessions,
      Sockets sockets,
      Departure departure,
      Frames frames,
      TenantMessageHandler handler,
      Executor executor,
      InstantSource clock) {
    this.tenants = tenants;
    this.reader = reader;
    this.claims = claims;
    this.sessions = sessions;
    this.sockets = sockets;
    this.departure = departure;
    this.frames = frames;
    this.handler = handler;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Processes a batch. A message that is not done in time counts as failed, and so do those behind
   * it; all others count as what they are.
   *
   * @param time how long that may take
   * @return what became of each, in the order of the batch
   */
  public List<Result> process(List<Incoming> batch, Duration time) {
    List<Passage> passages = batch.stream().map(Passage::new).toList();
    CompletableFuture<?>[] all =
        grouped(passages, Incoming::tenant).entrySet().stream()
            .map(tenant -> process(tenant.getKey(), tenant.getValue()))
            .toArray(CompletableFuture<?>[]::new);
    Result unfinished = Result.failed(await(CompletableFuture.allOf(all), time));
    return passages.stream().map(passage -> passage.end(unfinished)).toList();
  }

  /**
   * Waits for everything, but no longer than that; returns what to say of what is not done then.
   */
  private static Throwable await(CompletableFuture<?> all, Duration time) {
    try {
      all.get(Math.max(0, time.toMillis()), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      return new Unavailable("not done within " + time);
    } catch (ExecutionException failure) {
      return failure;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return new Unavailable("the processing was given up");
  }

  private CompletableFuture<Void> process(TenantId id, List<Passage> passages) {
    return CompletableFuture.supplyAsync(() -> admit(id, passages), executor)
        .thenCompose(
            facts ->
                CompletableFuture.allOf(
                    facts.stream()
                        .flatMap(known -> converse(known, passages))
                        .toArray(CompletableFuture<?>[]::new)))
        .whenComplete((done, failure) -> putBack(id, passages));
  }

  /** What stands written, once the messages are paid for; nothing if all has been said of them. */
  private Optional<MessageFacts> admit(TenantId id, List<Passage> passages) {
    try {
      Optional<MessageFacts> facts = facts(id, passages);
      facts.ifPresentOrElse(
          known -> pay(known, passages),
          () -> passages.forEach(passage -> passage.end(Result.of(Outcome.DROPPED))));
      return facts;
    } catch (RuntimeException failure) {
      passages.forEach(passage -> passage.end(Result.failed(failure)));
      return Optional.empty();
    }
  }

  private Optional<MessageFacts> facts(TenantId id, List<Passage> passages) {
    if (!tenants.knows(id)) {
      return Optional.empty();
    }
    Set<SessionId> used =
        passages.stream()
            .map(passage -> passage.incoming().session())
            .collect(Collectors.toUnmodifiableSet());
    return Optional.of(reader.read(id, used)).filter(facts -> facts.tenant().isPresent());
  }

  private void pay(MessageFacts facts, List<Passage> passages) {
    List<Passage> messages =
        passages.stream()
            .filter(passage -> passage.incoming().content() instanceof Incoming.Message)
            .toList();
    if (messages.isEmpty()) {
      return;
    }
    Spent spent =
        facts
            .bucket()
            .map(bucket -> claims.claimUpTo(bucket, messages.size()))
            .orElseGet(
                () -> new Spent(0, Optional.of(new Claim.Undecided("there is no bucket yet"))));
    for (int i = 0; i < messages.size(); i++) {
      int missing = i + 1 - spent.tokens();
      messages.get(i).pay(missing <= 0 ? new Passage.Paid() : unpaid(facts, spent, missing));
    }
  }

  /**
   * What becomes of the n-th message for which there is no token. If it is refused, its sender is
   * told of the n-th token to come: of those who wait as they are told, each finds one.
   */
  private Passage.Fare unpaid(MessageFacts facts, Spent spent, int n) {
    Claim.Shortfall why = spent.shortfall().orElseThrow();
    if (why instanceof Claim.Undecided undecided) {
      return facts.tenant().orElseThrow().onUnavailable() == OnUnavailable.ADMIT
          ? new Passage.Free()
          : new Passage.Unasked(undecided.cause());
    }
    Bucket bucket = facts.bucket().orElseThrow();
    return new Passage.Refused(bucket.nextTokensAt(clock.instant(), n));
  }

  private Stream<CompletableFuture<Void>> converse(MessageFacts facts, List<Passage> passages) {
    Tenant tenant = facts.tenant().orElseThrow();
    return grouped(passages, Incoming::session).entrySet().stream()
        .map(each -> conversation(tenant, each.getKey(), facts, each.getValue()))
        .map(held -> CompletableFuture.runAsync(held, executor));
  }

  private Runnable conversation(
      Tenant tenant, SessionId id, MessageFacts facts, List<Passage> passages) {
    Instant now = clock.instant();
    Optional<Session> session = Optional.ofNullable(facts.sessions().get(id));
    Set<String> open =
        session.filter(known -> !known.endedAt(now)).map(Session::connections).orElse(Set.of());
    // Whoever joined last moved the arrival time beyond that instant.
    boolean nobodyIsNew =
        session
            .flatMap(Session::arrival)
            .map(arrival -> arrival.isBefore(now.minus(HANDSHAKE)))
            .orElse(true);
    Set<String> senders =
        passages.stream()
            .map(passage -> passage.incoming().connectionId())
            .collect(Collectors.toUnmodifiableSet());
    Delivery delivery =
        new Delivery(
            sockets,
            departure,
            executor,
            tenant.id(),
            id,
            open,
            socket -> nobodyIsNew || senders.contains(socket));
    Conversation conversation =
        new Conversation(tenant, session, delivery, sessions, frames, handler, clock);
    return () -> conversation.hold(passages);
  }

  private void putBack(TenantId tenant, List<Passage> passages) {
    long inVain = passages.stream().filter(Passage::isPaidInVain).count();
    if (inVain > 0) {
      claims.putBack(new BucketId(tenant, Action.MESSAGE), Math.toIntExact(inVain));
    }
  }

  private static <K> Map<K, List<Passage>> grouped(
      List<Passage> passages, Function<Incoming, K> by) {
    return passages.stream()
        .collect(
            Collectors.groupingBy(
                passage -> by.apply(passage.incoming()), LinkedHashMap::new, Collectors.toList()));
  }

  /**
   * What became of a message, and why it is not done, if it is not.
   *
   * @param cause what failed; empty for one that only stood behind it
   */
  public record Result(Outcome outcome, Optional<Throwable> cause) {
    static Result of(Outcome outcome) {
      return new Result(outcome, Optional.empty());
    }

    static Result failed(Throwable cause) {
      return new Result(Outcome.FAILED, Optional.of(cause));
    }

    static Result failed(String cause) {
      return failed(new Unavailable(cause));
    }
  }
}

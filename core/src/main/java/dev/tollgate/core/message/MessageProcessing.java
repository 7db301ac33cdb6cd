package dev.tollgate.core.message;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.ReturnSlots;
import dev.tollgate.core.bucket.claim.SpendResult;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
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
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Processes a batch of messages: pays for them, calls the application, and sends frames to the
 * sockets of their sessions. Tenants and sessions run concurrently; the messages of one session
 * keep their order.
 *
 * <p>Tokens are spent before the messages are handled. A handler may outlast a lease, which could
 * then not be spent, and its message would be free. A message that fails gets its token back.
 *
 * <p>Every frame is paid for, including invalid messages and repetitions. If there are fewer tokens
 * than frames, the first frames of the batch get them.
 *
 * <p>A session may have 60 refused frames at once and 60 a minute ({@link MisbehavingSockets}); a
 * failed message counts as one. The socket that exceeds this is closed, and its frames that are
 * still in the queue are ignored. They cost neither tokens nor requests, so that later messages of
 * the session are not delayed.
 *
 * <p>A message with a client's id is processed once, however often the client sends it. The names
 * of processed messages are recorded, and a repetition is done without a call of the handler. It
 * gets no frame even if there is no token for it, because its client would conclude that the first
 * message was refused. A refused or failed message is not recorded, so it may be sent again. A
 * queue delivers the messages of one session one batch after another, so nothing needs to be
 * recorded before the handler runs. If the process crashes or runs out of time in between, a
 * message may be processed twice.
 *
 * <p>An accepted message is processed even if its session has ended since; it just gets no frames.
 * Messages of a tenant that is not active are refused, even if they were accepted before.
 *
 * <p>A refused message is gone, and its client learns so. The client of a redriven message may have
 * left days ago, so a redriven message is not refused: it needs no token, counts neither as refused
 * nor as cut off, and fails if its tenant is not active.
 */
public final class MessageProcessing {

  /**
   * Frames to one session may take the batch's time divided by this. The rest is for the handler,
   * so that slow sockets do not cause redeliveries.
   */
  private static final int DELIVERY_SHARE = 2;

  private final Rows rows;
  private final Claims claims;
  private final ReturnSlots slots;
  private final Enforcement enforcement;
  private final Clients clients;
  private final Application application;
  private final Timing timing;
  private final MisbehavingSockets misbehaving;

  /**
   * Processes messages with {@code application}.
   *
   * @param slots the times at which refused messages may be sent again
   * @param enforcement whether messages need tokens
   */
  public MessageProcessing(
      Rows rows,
      Claims claims,
      ReturnSlots slots,
      Enforcement enforcement,
      Clients clients,
      Application application,
      Timing timing) {
    this.rows = rows;
    this.claims = claims;
    this.slots = slots;
    this.enforcement = enforcement;
    this.clients = clients;
    this.application = application;
    this.timing = timing;
    this.misbehaving = new MisbehavingSockets(timing.clock());
  }

  /**
   * The rows that messages depend on, and that they change.
   *
   * @param log stores the processed messages that {@code facts} reads
   */
  public record Rows(
      AdmissionFactsReader tenants, MessageFactsReader facts, Sessions sessions, MessageLog log) {}

  /** How frames reach clients. */
  public record Clients(Sockets sockets, Disconnection disconnection, Frames frames) {}

  /**
   * Threads and clocks.
   *
   * @param executor runs tenants, sessions and sockets concurrently; tasks wait for tasks, so it
   *     must have a thread for each
   * @param nanoTime elapsed time in nanoseconds
   */
  public record Timing(Executor executor, InstantSource clock, LongSupplier nanoTime) {}

  /**
   * Processes a batch. A message that is not done in time counts as failed, and so do the later
   * ones of its session.
   *
   * @param time the time limit
   * @return the result of each message, in the order of the batch
   */
  public List<Result> process(List<IncomingMessage> batch, Duration time) {
    List<BatchMessage> messages = batch.stream().map(BatchMessage::new).toList();
    messages.stream()
        .filter(message -> !message.incoming().redriven())
        .filter(message -> misbehaving.isCutOff(message.incoming().connectionId()))
        .forEach(message -> message.end(Result.of(MessageOutcome.CUT_OFF)));
    List<BatchMessage> remaining =
        messages.stream().filter(message -> !message.hasResult()).toList();
    CompletableFuture<?>[] all =
        grouped(remaining, message -> message.incoming().tenant()).entrySet().stream()
            .map(tenant -> process(tenant.getKey(), tenant.getValue(), time))
            .toArray(CompletableFuture<?>[]::new);
    Result unfinished = Result.failed(await(CompletableFuture.allOf(all), time));
    return messages.stream().map(message -> message.report(unfinished)).toList();
  }

  /**
   * Waits for all tasks up to the time limit; returns the error of messages that are not done then.
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

  private CompletableFuture<Void> process(TenantId id, List<BatchMessage> messages, Duration time) {
    return CompletableFuture.supplyAsync(() -> admit(id, messages), timing.executor())
        .thenCompose(
            facts ->
                CompletableFuture.allOf(
                    facts.stream()
                        .flatMap(known -> processSessions(known, messages, time))
                        .toArray(CompletableFuture<?>[]::new)))
        .whenComplete((done, failure) -> putBack(id, messages));
  }

  /** Reads the rows and pays for the messages; empty if all results are set. */
  private Optional<MessageFacts> admit(TenantId id, List<BatchMessage> messages) {
    try {
      Optional<MessageFacts> facts = facts(id, messages);
      facts.ifPresentOrElse(
          known -> pay(known, messages),
          () -> messages.forEach(message -> message.end(Result.of(MessageOutcome.DROPPED))));
      return facts;
    } catch (RuntimeException failure) {
      messages.forEach(message -> message.end(Result.failed(failure)));
      return Optional.empty();
    }
  }

  private Optional<MessageFacts> facts(TenantId id, List<BatchMessage> messages) {
    if (!rows.tenants().tenantExists(id)) {
      return Optional.empty();
    }
    Set<SessionId> used =
        messages.stream()
            .map(message -> message.incoming().session())
            .collect(Collectors.toUnmodifiableSet());
    Set<MessageName> named =
        messages.stream()
            .flatMap(message -> message.incoming().name().stream())
            .collect(Collectors.toUnmodifiableSet());
    return Optional.of(rows.facts().read(id, used, named))
        .filter(facts -> facts.tenant().isPresent());
  }

  /**
   * Pays for all frames that were not redriven, including invalid ones: to read, refuse or
   * recognize a frame costs as much as to handle it.
   */
  private void pay(MessageFacts facts, List<BatchMessage> all) {
    Tenant tenant = facts.tenant().orElseThrow();
    if (tenant.status() != TenantStatus.ACTIVE) {
      all.forEach(message -> message.pay(new BatchMessage.Suspended()));
      return;
    }
    all.forEach(message -> message.pay(new BatchMessage.Free()));
    List<BatchMessage> messages =
        all.stream().filter(message -> !message.incoming().redriven()).toList();
    if (messages.isEmpty()) {
      return;
    }
    if (enforcement.knownLifted().isPresent()) {
      messages.forEach(message -> message.pay(new BatchMessage.WithoutToken()));
      return;
    }
    LimitMode mode = tenant.limits().mode(Limit.MESSAGES_PER_MINUTE);
    if (mode == LimitMode.OFF) {
      messages.forEach(message -> message.pay(new BatchMessage.Free()));
      return;
    }
    BucketId id = new BucketId(tenant.id(), Action.MESSAGE);
    SpendResult spent = claims.spendUpTo(id, facts.bucket(), messages.size());
    messages.subList(0, spent.tokens()).forEach(message -> message.pay(new BatchMessage.Paid()));
    List<BatchMessage> rest = messages.subList(spent.tokens(), messages.size());
    if (mode == LimitMode.OBSERVE) {
      boolean isAdmitted =
          spent.shortfall().filter(why -> admitsWithoutToken(tenant, why)).isPresent();
      rest.forEach(
          message ->
              message.pay(
                  isAdmitted ? new BatchMessage.WithoutToken() : new BatchMessage.Observed()));
      return;
    }
    if (!rest.isEmpty() && enforcement.lifted().isPresent()) {
      rest.forEach(message -> message.pay(new BatchMessage.WithoutToken()));
      return;
    }
    // Copies of one message need one token and get the same frame.
    List<List<BatchMessage>> unpaid =
        List.copyOf(grouped(rest, MessageProcessing::nameOf).values());
    spent
        .shortfall()
        .ifPresent(
            why -> {
              List<BatchMessage.Payment> answers = shortfalls(facts, why, unpaid.size());
              for (int i = 0; i < unpaid.size(); i++) {
                BatchMessage.Payment answer = answers.get(i);
                unpaid.get(i).forEach(message -> message.pay(answer));
              }
            });
  }

  /** A key that a message shares with its copies; any other frame has its own key. */
  private static Object nameOf(BatchMessage message) {
    return message
        .incoming()
        .name()
        .filter(name -> message.incoming().content() instanceof IncomingMessage.Message)
        .<Object>map(name -> name)
        .orElse(message);
  }

  /** Whether the queue failed and the tier admits then. */
  private static boolean admitsWithoutToken(Tenant tenant, ClaimResult.Shortfall why) {
    return why instanceof ClaimResult.Undecided undecided
        && undecided.isOutage()
        && tenant.onUnavailable() == OnUnavailable.ADMIT;
  }

  /** The payments of n frames without a token. */
  private List<BatchMessage.Payment> shortfalls(
      MessageFacts facts, ClaimResult.Shortfall why, int n) {
    if (why instanceof ClaimResult.Undecided undecided) {
      return Collections.nCopies(
          n,
          admitsWithoutToken(facts.tenant().orElseThrow(), undecided)
              ? new BatchMessage.WithoutToken()
              : new BatchMessage.Undecided(undecided.cause()));
    }
    return facts
        .bucket()
        .map(bucket -> retryTimes(bucket, n))
        .orElseGet(() -> Collections.nCopies(n, ((ClaimResult.Denied) why).retryAt()))
        .stream()
        .<BatchMessage.Payment>map(BatchMessage.Throttled::new)
        .toList();
  }

  /**
   * When the senders of n refused messages may send them again: each gets a slot of its own. If
   * there are none, the due times of the next n tokens, which other batches may get as well.
   */
  private List<Instant> retryTimes(Bucket bucket, int n) {
    List<Instant> taken = slots.take(bucket, n);
    Instant now = timing.clock().instant();
    return taken.isEmpty()
        ? IntStream.rangeClosed(1, n).mapToObj(i -> bucket.at(now).nextTokens(i)).toList()
        : taken;
  }

  private Stream<CompletableFuture<Void>> processSessions(
      MessageFacts facts, List<BatchMessage> messages, Duration time) {
    Tenant tenant = facts.tenant().orElseThrow();
    return grouped(messages, message -> message.incoming().session()).entrySet().stream()
        .map(each -> sessionTask(tenant, each.getKey(), facts, each.getValue(), time))
        .map(held -> CompletableFuture.runAsync(held, timing.executor()));
  }

  private Runnable sessionTask(
      Tenant tenant, SessionId id, MessageFacts facts, List<BatchMessage> messages, Duration time) {
    Instant now = timing.clock().instant();
    Optional<Session> session = Optional.ofNullable(facts.sessions().get(id));
    Set<String> open =
        session.filter(known -> !known.hasEndedAt(now)).map(Session::connections).orElse(Set.of());
    Instant handshaking = now.minus(Session.MAX_HANDSHAKE);
    Set<String> senders =
        messages.stream()
            .map(message -> message.incoming().connectionId())
            .collect(Collectors.toUnmodifiableSet());
    FrameDelivery delivery =
        new FrameDelivery(
            clients.sockets(),
            clients.disconnection(),
            misbehaving,
            timing,
            tenant.id(),
            id,
            open,
            socket ->
                senders.contains(socket)
                    || session
                        .filter(known -> known.joinedAt(socket).isBefore(handshaking))
                        .isPresent(),
            time.dividedBy(DELIVERY_SHARE));
    SessionBatch sessionBatch =
        new SessionBatch(
            facts,
            session,
            delivery,
            misbehaving,
            rows,
            clients.frames(),
            application,
            timing.clock());
    return () -> sessionBatch.process(messages);
  }

  private void putBack(TenantId tenant, List<BatchMessage> messages) {
    long count = messages.stream().filter(BatchMessage::isPaidButNotProcessed).count();
    if (count > 0) {
      claims.held().putBack(new BucketId(tenant, Action.MESSAGE), Math.toIntExact(count));
    }
  }

  private static <K> Map<K, List<BatchMessage>> grouped(
      List<BatchMessage> messages, Function<BatchMessage, K> by) {
    return messages.stream()
        .collect(Collectors.groupingBy(by, LinkedHashMap::new, Collectors.toList()));
  }

  /**
   * The result of a message.
   *
   * @param cause why it is not done, or why a frame was not delivered or the log not written; empty
   *     for a message that only came after one that failed
   * @param undelivered frames that a socket did not get
   */
  public record Result(MessageOutcome outcome, Optional<Throwable> cause, int undelivered) {
    static Result of(MessageOutcome outcome) {
      return of(outcome, Optional.empty());
    }

    static Result of(MessageOutcome outcome, Optional<Throwable> cause) {
      return new Result(outcome, cause, 0);
    }

    static Result failed(Throwable cause) {
      return of(MessageOutcome.FAILED, Optional.of(cause));
    }

    static Result failed(String cause) {
      return failed(new Unavailable(cause));
    }
  }
}

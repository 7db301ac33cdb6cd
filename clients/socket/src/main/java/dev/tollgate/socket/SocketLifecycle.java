package dev.tollgate.socket;

import dev.tollgate.socket.SessionApi.Result;
import dev.tollgate.socket.Transport.Connection;
import dev.tollgate.socket.Transport.Events;
import dev.tollgate.socket.Transport.Handshake;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The states of a socket, after the table in {@code docs/client-protocol.md}. All methods run on
 * the scheduler of the socket, except {@link #state}, {@link #session} and {@link #closed}.
 */
final class SocketLifecycle {
  /** A connection that was open for this long was a success. */
  private static final Duration STABLE = Duration.ofSeconds(10);

  private static final Duration POLL_FROM = Duration.ofSeconds(5);
  private static final Duration POLL_TO = Duration.ofSeconds(10);

  /** The least wait after the server closed the connection with 1000. */
  private static final Duration AFTER_CLOSE = Duration.ofSeconds(1);

  /** API Gateway closes a connection after two hours. It is replaced between these ages. */
  private static final Duration REPLACE_FROM = Duration.ofMinutes(90);

  private static final Duration REPLACE_TO = Duration.ofMinutes(110);

  private final SocketSettings settings;
  private final SessionApi api;
  private final BackOff backOff;
  private final Outbox outbox;
  private final Renewals renewals;
  private final CompletableFuture<CloseReason> closed = new CompletableFuture<>();

  private volatile SocketState state = new SocketState.Connecting();
  private volatile Optional<Session> session = Optional.empty();
  private Optional<Socket> current = Optional.empty();

  /** Handshakes whose end was not handled yet. */
  private final Set<CompletionStage<Handshake>> handshakes = new HashSet<>();

  private Scheduler.Cancellable timer = () -> {};
  private Scheduler.Cancellable replacementTimer = () -> {};
  private Instant openedAt = Instant.MIN;

  /** Counts the states, so that answers that come too late are ignored. */
  private int turn;

  SocketLifecycle(SocketSettings settings) {
    this.settings = settings;
    api =
        new SessionApi(
            settings.sessionUrl(),
            settings.tenantId(),
            settings.headers(),
            settings.transport(),
            settings.scheduler());
    backOff = new BackOff(settings.random());
    outbox = new Outbox(settings, () -> silent());
    renewals = new Renewals(settings, api, () -> sessionGone());
    session =
        settings
            .sessionId()
            .flatMap(
                id ->
                    settings.webSocketUrl().map(url -> new Session(settings.tenantId(), id, url)));
  }

  SocketState state() {
    return state;
  }

  Optional<Session> session() {
    return session;
  }

  CompletableFuture<CloseReason> closed() {
    return closed;
  }

  void send(Outgoing message) {
    outbox.add(message);
  }

  void start() {
    if (session.isPresent()) {
      handshake();
    } else {
      create(settings.sessionId());
    }
  }

  private boolean isClosed() {
    return state instanceof SocketState.Closed;
  }

  private void enter(SocketState next) {
    turn++;
    timer.cancel();
    boolean same = next instanceof SocketState.Connecting && next.equals(state) && turn > 1;
    state = next;
    if (!same) {
      settings.listener().stateChanged(next);
    }
  }

  /** A step that is ignored if the state has changed. */
  private <T> Consumer<T> ifCurrent(Consumer<T> step) {
    int expected = turn;
    return value -> {
      if (turn == expected) {
        step.accept(value);
      }
    };
  }

  private void later(Duration delay, Runnable step) {
    timer = settings.scheduler().after(delay, step);
  }

  private void retry(Interruption why, Duration delay, Runnable step) {
    enter(new SocketState.Reconnecting(backOff.failures(), now().plus(delay), why));
    later(delay, step);
  }

  private void retry(Interruption why, Runnable step) {
    retry(why, backOff.next(), step);
  }

  private void retry(Result.Later answer, Runnable step) {
    retry(answer.why(), answer.retryAfter().map(backOff::next).orElseGet(backOff::next), step);
  }

  // Sessions

  private void create(Optional<String> sessionId) {
    enter(new SocketState.Connecting());
    api.put(
        sessionId,
        ifCurrent(
            result -> {
              if (result instanceof Result.Granted granted) {
                session = Optional.of(granted.session());
                handshake();
              } else if (result instanceof Result.Gone) {
                if (sessionId.isPresent()) {
                  sessionOver();
                } else {
                  finish(new CloseReason.UnknownTenant());
                }
              } else {
                failed(result, () -> create(sessionId));
              }
            }));
  }

  /** Handles an answer that is not about a session. */
  private void failed(Result result, Runnable again) {
    if (result instanceof Result.Final end) {
      finish(end.reason());
    } else if (result instanceof Result.Later later) {
      retry(later, again);
    } else {
      retry(new Interruption.NoAnswer("Unexpected answer of the session API"), again);
    }
  }

  private void sessionOver() {
    outbox.sessionEnded();
    renewals.stop();
    session = Optional.empty();
    if (settings.replacesSession()) {
      retry(new Interruption.SessionOver(), () -> create(Optional.empty()));
    } else {
      finish(new CloseReason.SessionEnded());
    }
  }

  /** A renewal found that the session is over. */
  private void sessionGone() {
    if (!isClosed()) {
      var unused = leave();
      sessionOver();
    }
  }

  // Handshakes

  private void handshake() {
    enter(new SocketState.Connecting());
    open(
        session.orElseThrow(),
        (admitted) -> opened(admitted),
        (refused) -> {
          if (refused.status() == 429 || refused.status() == 403) {
            explain(Optional.of(refused.status()));
          } else if (refused.status() >= 500) {
            retry(new Interruption.HandshakeRefused(refused.status()), this::handshake);
          } else {
            finish(new CloseReason.Invalid(refused.status(), "The handshake was refused."));
          }
        },
        (failed) -> retry(new Interruption.NoAnswer(failed.detail()), this::handshake));
  }

  private void open(
      Session at,
      Consumer<Socket> admitted,
      Consumer<Handshake.Refused> refused,
      Consumer<Handshake.Failed> failed) {
    Socket socket = new Socket();
    int expected = turn;
    CompletionStage<Handshake> handshake = begin(at, socket);
    handshakes.add(handshake);
    settings
        .scheduler()
        .when(
            handshake,
            end -> {
              if (!handshakes.remove(handshake)) {
                return;
              }
              if (end instanceof Handshake.Admitted it) {
                socket.connection = Optional.of(it.connection());
              }
              if (turn != expected) {
                socket.connection.ifPresent(SocketLifecycle::closeSoon);
              } else if (end instanceof Handshake.Refused it) {
                settings.listener().handshakeRefused(it.status());
                refused.accept(it);
              } else if (end instanceof Handshake.Failed it) {
                failed.accept(it);
              } else {
                admitted.accept(socket);
              }
            });
  }

  /** Begins a handshake. If the transport refuses to, nobody answers. */
  private CompletionStage<Handshake> begin(Session at, Socket socket) {
    try {
      return settings.transport().open(at.address(), socket);
    } catch (RuntimeException failure) {
      return CompletableFuture.completedFuture(
          // Its message may have the address, and so the session's id.
          new Handshake.Failed(
              "The handshake cannot begin: " + failure.getClass().getSimpleName()));
    }
  }

  /**
   * Asks why there is no connection.
   *
   * @param status the status of a handshake; empty if the socket waits for a free connection
   */
  private void explain(Optional<Integer> status) {
    if (!settings.asksSessionApi()) {
      // Without a way to ask, an ended session cannot be told from an unknown one.
      if (status.equals(Optional.of(403))) {
        finish(new CloseReason.SessionEnded());
      } else {
        retry(new Interruption.HandshakeRefused(status.orElse(429)), this::handshake);
      }
      return;
    }
    api.show(
        session.orElseThrow(),
        ifCurrent(
            result -> {
              if (result instanceof Result.Shown shown && shown.refusal().isPresent()) {
                await(shown, shown.refusal().get());
              } else if (result instanceof Result.Shown && status.isPresent()) {
                retry(new Interruption.HandshakeRefused(status.get()), this::handshake);
              } else if (result instanceof Result.Shown) {
                handshake();
              } else if (result instanceof Result.Gone) {
                sessionOver();
              } else {
                failed(result, () -> explainAgain(status));
              }
            }));
  }

  private void explainAgain(Optional<Integer> status) {
    enter(new SocketState.Connecting());
    explain(status);
  }

  private void await(Result.Shown shown, Refusal refusal) {
    if (refusal.reason().equals(Refusal.SUSPENDED)) {
      finish(new CloseReason.Suspended());
      return;
    }
    backOff.reset();
    if (refusal.ahead().isEmpty()) {
      // The server keeps a session that is in line.
      shown.idle().ifPresent(idle -> renewals.keep(session.orElseThrow(), idle));
    }
    Duration delay =
        refusal
            .retryAfter()
            // Every session in line has a slot of its own; any other time is told to several.
            .map(told -> refusal.ahead().isPresent() ? told : backOff.spread(told))
            .orElseGet(() -> backOff.between(POLL_FROM, POLL_TO));
    Instant now = now();
    enter(new SocketState.Waiting(refusal, now, now.plus(delay)));
    later(
        delay,
        refusal.retryAfter().isPresent() ? this::handshake : () -> explain(Optional.empty()));
  }

  // Open

  private void opened(Socket socket) {
    current = Optional.of(socket);
    openedAt = now();
    enter(new SocketState.Open());
    if (settings.asksSessionApi()) {
      renewals.begin(session.orElseThrow());
    }
    scheduleReplacement(backOff.between(REPLACE_FROM, REPLACE_TO));
    use(socket);
  }

  private void use(Socket socket) {
    Connection connection = socket.connection.orElseThrow();
    outbox.opened(connection);
    connection.start();
    if (socket.end.isPresent()) {
      dropped(socket.end.get());
    }
  }

  /** Stops using the connection, and closes it. */
  private CompletionStage<Boolean> leave() {
    replacementTimer.cancel();
    Optional<Connection> left = current.flatMap(socket -> socket.connection);
    current = Optional.empty();
    outbox.dropped();
    return left.map(Connection::close).orElseGet(() -> CompletableFuture.completedFuture(true));
  }

  private static void closeSoon(Connection connection) {
    var unused = connection.close();
  }

  /** The server does not answer. */
  private void silent() {
    current.ifPresent(
        socket -> {
          socket.connection.ifPresent(Connection::abort);
          dropped(new Interruption.Dropped(1006, "The server does not answer."));
        });
  }

  private void dropped(Interruption.Dropped drop) {
    if (drop.code() == 1003 || drop.code() == 1009) {
      outbox.tooBig();
    }
    current = Optional.empty();
    replacementTimer.cancel();
    outbox.dropped();
    settings.listener().disconnected(drop);
    if (isClosed()) {
      return;
    }
    if (!now().isBefore(openedAt.plus(STABLE))) {
      backOff.reset();
    }
    if (drop.code() == 1000 && settings.asksSessionApi()) {
      enter(new SocketState.Connecting());
      askAfter(drop);
    } else {
      retry(drop, this::handshake);
    }
  }

  /** The server closed the connection with 1000, for one of several reasons. */
  private void askAfter(Interruption.Dropped drop) {
    api.show(
        session.orElseThrow(),
        ifCurrent(
            result -> {
              if (result instanceof Result.Gone) {
                sessionOver();
              } else if (result instanceof Result.Shown shown
                  && shown.refusal().map(Refusal::reason).equals(Optional.of(Refusal.SUSPENDED))) {
                finish(new CloseReason.Suspended());
              } else if (result instanceof Result.Final end) {
                finish(end.reason());
              } else {
                Duration delay = backOff.next();
                retry(
                    drop, delay.compareTo(AFTER_CLOSE) < 0 ? AFTER_CLOSE : delay, this::handshake);
              }
            }));
  }

  // Replacement before the end of two hours

  private void scheduleReplacement(Duration delay) {
    replacementTimer.cancel();
    replacementTimer = settings.scheduler().after(delay, this::replace);
  }

  private void replace() {
    open(
        session.orElseThrow(),
        (next) -> {
          Optional<Socket> old = current;
          current = Optional.of(next);
          openedAt = now();
          outbox.dropped();
          old.flatMap(socket -> socket.connection).ifPresent(SocketLifecycle::closeSoon);
          scheduleReplacement(backOff.between(REPLACE_FROM, REPLACE_TO));
          use(next);
        },
        (refused) -> {
          if (settings.asksSessionApi()) {
            api.show(
                session.orElseThrow(),
                ifCurrent(
                    result ->
                        scheduleReplacement(
                            result instanceof Result.Shown shown
                                ? shown.refusal().flatMap(Refusal::retryAfter).orElse(POLL_TO)
                                : POLL_TO)));
          } else {
            scheduleReplacement(backOff.spread(POLL_TO));
          }
        },
        (failed) -> scheduleReplacement(backOff.spread(POLL_TO)));
  }

  // The end

  void close() {
    if (!isClosed()) {
      finish(new CloseReason.Requested());
    }
  }

  private void finish(CloseReason reason) {
    CompletionStage<Boolean> left = leave();
    abandonHandshakes();
    renewals.stop();
    outbox.close();
    Optional<Session> ending =
        session.filter(
            it ->
                settings.endsSession()
                    && settings.asksSessionApi()
                    && reason instanceof CloseReason.Requested);
    enter(new SocketState.Closed(reason));
    settings
        .scheduler()
        .when(
            left,
            sent -> {
              if (ending.isPresent()) {
                api.end(ending.get(), unused -> ended(reason));
              } else {
                ended(reason);
              }
            });
  }

  /** Closes connections that are admitted later, when the scheduler may run no more steps. */
  private void abandonHandshakes() {
    for (CompletionStage<Handshake> handshake : handshakes) {
      var unused =
          handshake.thenAccept(
              end -> {
                if (end instanceof Handshake.Admitted it) {
                  closeSoon(it.connection());
                }
              });
    }
    handshakes.clear();
  }

  private void ended(CloseReason reason) {
    closed.complete(reason);
    settings.onEnd().run();
  }

  private Instant now() {
    return settings.clock().instant();
  }

  /** A connection, from its handshake on. */
  private final class Socket implements Events {
    private Optional<Connection> connection = Optional.empty();

    /** How the connection ended, if it did so before it was used. */
    private Optional<Interruption.Dropped> end = Optional.empty();

    private boolean isCurrent() {
      return current.filter(this::equals).isPresent();
    }

    @Override
    public void text(String text) {
      settings
          .scheduler()
          .execute(
              () -> {
                if (isCurrent()) {
                  outbox.receive(text);
                }
              });
    }

    @Override
    public void closed(int code, String reason) {
      settings
          .scheduler()
          .execute(
              () -> {
                end = Optional.of(new Interruption.Dropped(code, reason));
                if (isCurrent()) {
                  dropped(end.get());
                }
              });
    }
  }
}

package dev.tollgate.socket;

import dev.tollgate.socket.SessionApi.Result;
import java.time.Duration;
import java.util.Optional;

/**
 * Keeps a session alive. A session ends when nobody connects, sends or renews it for its idle time,
 * so it is renewed every half of that. The idle time is a number of seconds in an answer; instants
 * of the server are never compared with the client's clock.
 */
final class Renewals {
  /** When an open socket asks for the idle time. */
  private static final Duration ASK_FROM = Duration.ofSeconds(5);

  private static final Duration ASK_TO = Duration.ofSeconds(10);

  private final SocketSettings settings;
  private final SessionApi api;
  private final BackOff backOff;
  private final Runnable onGone;
  private Optional<Session> session = Optional.empty();
  private Scheduler.Cancellable timer = () -> {};

  /**
   * @param onGone called when a session turns out to be over
   */
  Renewals(SocketSettings settings, SessionApi api, Runnable onGone) {
    this.settings = settings;
    this.api = api;
    this.backOff = new BackOff(settings.random());
    this.onGone = onGone;
  }

  /** Keeps a session that was just used alive, after asking for its idle time. */
  void begin(Session used) {
    stop();
    session = Optional.of(used);
    timer = settings.scheduler().after(backOff.between(ASK_FROM, ASK_TO), () -> ask(used));
  }

  /** Keeps a session alive whose idle time is known. */
  void keep(Session used, Duration idle) {
    if (session.isEmpty()) {
      session = Optional.of(used);
      renewAfter(idle.dividedBy(2), used, idle);
    }
  }

  void stop() {
    timer.cancel();
    session = Optional.empty();
  }

  private boolean isKept(Session one) {
    return session.filter(one::equals).isPresent();
  }

  private void ask(Session used) {
    api.show(
        used,
        result -> {
          if (isKept(used)) {
            if (result instanceof Result.Shown shown && shown.idle().isPresent()) {
              Duration idle = shown.idle().get();
              renewAfter(idle.dividedBy(2), used, idle);
            } else if (result instanceof Result.Gone) {
              onGone.run();
            } else if (!(result instanceof Result.Final)) {
              timer = settings.scheduler().after(backOff.next(), () -> ask(used));
            }
          }
        });
  }

  private void renewAfter(Duration delay, Session used, Duration idle) {
    timer.cancel();
    timer = settings.scheduler().after(delay, () -> renew(used, idle));
  }

  private void renew(Session used, Duration idle) {
    api.put(
        Optional.of(used.sessionId()),
        result -> {
          if (!isKept(used)) {
            return;
          }
          if (result instanceof Result.Granted) {
            backOff.reset();
            renewAfter(idle.dividedBy(2), used, idle);
          } else if (result instanceof Result.Gone) {
            onGone.run();
          } else if (result instanceof Result.Later later) {
            Duration delay = later.retryAfter().map(backOff::next).orElseGet(backOff::next);
            Duration most = idle.dividedBy(8);
            renewAfter(delay.compareTo(most) < 0 ? delay : most, used, idle);
          }
          // Without permission to renew, the session relies on its messages.
        });
  }
}

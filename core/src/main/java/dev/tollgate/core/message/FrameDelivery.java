package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.MisbehavingSockets.Slowness;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.session.Sockets.CloseResult;
import dev.tollgate.core.session.Sockets.PostResult;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Sends frames to the sockets of one session while a batch is processed: one frame to all sockets
 * in parallel, one frame after another.
 *
 * <p>Delivery is best effort. An undelivered frame is reported, once for each socket, and causes no
 * failure.
 *
 * <p>The time is limited, because the batch waits for all its sessions. A socket that takes a
 * second for a frame, or whose delays add up to that, is slow: this batch no longer waits for it
 * and sends it no more frames. Only time beyond what other sockets usually take is a delay. If the
 * socket also fails to take a frame within a second in a later batch, without having taken one in
 * between, it is closed and cut off; but only if another socket took a frame promptly in between,
 * because otherwise API Gateway may be slow. All frames together take no longer than the time of
 * the delivery; after that it sends nothing.
 *
 * <p>A socket that is gone is removed from its session, unless it may be in its handshake: {@code
 * $connect} registers a connection before its handshake ends, and until then API Gateway reports it
 * as gone. If it stays gone, a later frame or the housekeeper removes it.
 *
 * <p>One thread at a time may use a delivery.
 */
final class FrameDelivery {
  /** The most concurrent requests for one frame, not counting abandoned ones. */
  private static final int AT_ONCE = 8;

  /** The total delay after which a socket is slow, so that one frame may usually take a second. */
  private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(900);

  private final Sockets sockets;
  private final Disconnection disconnection;
  private final MisbehavingSockets misbehaving;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final TenantId tenant;
  private final SessionId session;
  private final Set<String> open = ConcurrentHashMap.newKeySet();
  private final Map<String, Long> lateNanos = new HashMap<>();
  private final Set<String> slow = new HashSet<>();
  private final Set<String> closing = new HashSet<>();
  private final Set<String> gone = ConcurrentHashMap.newKeySet();
  private final Predicate<String> established;
  private long nanosLeft;

  /**
   * A delivery to these sockets.
   *
   * @param misbehaving the slow and closed sockets that this process knows
   * @param open the ids of the session's connections
   * @param established whether a connection's handshake has certainly ended
   * @param time the total time for all frames
   */
  FrameDelivery(
      Sockets sockets,
      Disconnection disconnection,
      MisbehavingSockets misbehaving,
      Timing timing,
      TenantId tenant,
      SessionId session,
      Set<String> open,
      Predicate<String> established,
      Duration time) {
    this.sockets = sockets;
    this.disconnection = disconnection;
    this.misbehaving = misbehaving;
    this.executor = timing.executor();
    this.nanoTime = timing.nanoTime();
    this.tenant = tenant;
    this.session = session;
    this.open.addAll(open);
    this.established = established;
    this.nanosLeft = time.toNanos();
  }

  /**
   * Sends a frame to every socket.
   *
   * @param failed receives the error of each socket that did not get the frame, except of those
   *     that are gone
   * @return how many sockets took it
   */
  int toAll(String frame, Consumer<Throwable> failed) {
    return post(List.copyOf(open), frame, failed);
  }

  /** Sends a frame to every socket but one. */
  void toOthersThan(String connectionId, String frame, Consumer<Throwable> failed) {
    var unused =
        post(open.stream().filter(other -> !other.equals(connectionId)).toList(), frame, failed);
  }

  /** Sends a frame to one socket, whether or not it is still in the session. */
  void to(String connectionId, String frame, Consumer<Throwable> failed) {
    var unused = post(List.of(connectionId), frame, failed);
  }

  /**
   * Closes a socket, whether or not it is still in the session, and then cuts it off. Then {@code
   * $disconnect} removes it from the session. If the socket is already gone, this method removes
   * it.
   *
   * <p>The request is sent once, also to a slow socket. If no time is left, the delivery does not
   * wait for the result.
   */
  void close(String connectionId) {
    long begun = nanoTime.getAsLong();
    close(connectionId, begun + nanosLeft);
    nanosLeft -= nanoTime.getAsLong() - begun;
  }

  private int post(List<String> to, String frame, Consumer<Throwable> failed) {
    long begun = nanoTime.getAsLong();
    long deadline = begun + nanosLeft;
    int taken = 0;
    Deque<Request<PostResult>> underWay = new ArrayDeque<>();
    for (String socket : to) {
      if (underWay.size() == AT_ONCE) {
        taken += await(underWay.remove(), deadline, failed) ? 1 : 0;
      }
      if (deadline - nanoTime.getAsLong() <= 0) {
        failed.accept(new Unavailable("no time is left to send frames"));
      } else if (slow.contains(socket)) {
        failed.accept(new Unavailable("the socket is slow"));
      } else if (!gone.contains(socket)) {
        underWay.add(begin(socket, () -> posted(socket, frame)));
      }
    }
    for (Request<PostResult> request : underWay) {
      taken += await(request, deadline, failed) ? 1 : 0;
    }
    nanosLeft -= nanoTime.getAsLong() - begun;
    return taken;
  }

  private PostResult posted(String connectionId, String frame) {
    long begun = nanoTime.getAsLong();
    PostResult posted;
    long nanos;
    try {
      posted = sockets.post(connectionId, frame);
    } finally {
      nanos = nanoTime.getAsLong() - begun;
      misbehaving.took(connectionId, nanos);
    }
    if (posted == PostResult.GONE) {
      remove(connectionId);
    } else if (nanos < misbehaving.usualNanos(connectionId) + SLOW_NANOS) {
      misbehaving.reached(connectionId);
      if (nanos <= MisbehavingSockets.LEAST_USUAL.toNanos()) {
        misbehaving.prompt();
      }
    }
    return posted;
  }

  /** Waits for a socket; returns whether it took the frame. */
  private boolean await(Request<PostResult> request, long deadline, Consumer<Throwable> failed) {
    String socket = request.socket();
    long late = lateNanos.getOrDefault(socket, 0L);
    long usual = misbehaving.usualNanos(socket);
    Answer<PostResult> answer = answer(request, usual + SLOW_NANOS - late, deadline);
    late += Math.max(0, answer.nanos() - usual);
    lateNanos.put(socket, late);
    answer.failure().ifPresent(failed);
    boolean isNotTaken = answer.failure().isPresent() || answer.nanos() >= usual + SLOW_NANOS;
    if (late >= SLOW_NANOS
        && slow.add(socket)
        && isNotTaken
        && misbehaving.slow(socket) == Slowness.LASTING) {
      close(socket, deadline);
    }
    return answer.value().filter(PostResult.SENT::equals).isPresent();
  }

  private void close(String connectionId, long deadline) {
    if (closing.add(connectionId)) {
      var unused = answer(begin(connectionId, () -> closed(connectionId)), SLOW_NANOS, deadline);
    }
  }

  private CloseResult closed(String connectionId) {
    CloseResult closed = sockets.close(connectionId);
    misbehaving.cutOff(connectionId);
    open.remove(connectionId);
    if (closed == CloseResult.GONE) {
      remove(connectionId);
    }
    return closed;
  }

  private <T> Request<T> begin(String connectionId, Supplier<T> asking) {
    long begun = nanoTime.getAsLong();
    return new Request<>(
        connectionId,
        begun,
        CompletableFuture.supplyAsync(
            () -> {
              Optional<T> value = Optional.empty();
              Optional<Throwable> failure = Optional.empty();
              try {
                value = Optional.of(asking.get());
              } catch (RuntimeException thrown) {
                failure = Optional.of(thrown);
              }
              return new Answer<>(value, failure, nanoTime.getAsLong() - begun);
            },
            executor));
  }

  /** Waits for a response until its time is up. A request without a response continues. */
  private <T> Answer<T> answer(Request<T> request, long nanos, long deadline) {
    long end = Math.min(request.begun() + nanos, deadline);
    try {
      return request.answer().get(Math.max(0, end - nanoTime.getAsLong()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      return new Answer<>(
          Optional.empty(),
          Optional.of(new Unavailable("the frame was not sent in time")),
          end - request.begun());
    } catch (ExecutionException failure) {
      throw new IllegalStateException(failure.getCause());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return new Answer<>(Optional.empty(), Optional.of(interrupted), 0);
    }
  }

  private void remove(String connectionId) {
    open.remove(connectionId);
    if (gone.add(connectionId) && established.test(connectionId)) {
      removeConnection(connectionId);
    }
  }

  /** If this fails, a later frame or the housekeeper finds the socket gone again. */
  private void removeConnection(String connectionId) {
    try {
      disconnection.remove(tenant, session, connectionId);
    } catch (Unavailable ignored) {
      return;
    }
  }

  /** A request in progress since {@code begun}. */
  private record Request<T>(String socket, long begun, CompletableFuture<Answer<T>> answer) {}

  /**
   * The result of a request.
   *
   * @param value the response, unless it failed
   * @param failure the error, if it failed
   * @param nanos how long the request took
   */
  private record Answer<T>(Optional<T> value, Optional<Throwable> failure, long nanos) {}
}

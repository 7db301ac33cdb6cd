package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.admission.Departure;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.session.Sockets.Posted;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Sends frames to the sockets of one session while a batch is processed: one frame to all sockets
 * in parallel, one frame after another.
 *
 * <p>Delivery is best effort. A frame that cannot be sent is reported, once for each socket, and
 * nothing fails because of it. The time is bounded: a socket that fails slowly gets no more frames
 * in this batch, and all frames together take no longer than the time that the delivery was given;
 * after that it sends nothing.
 *
 * <p>A socket that is gone is removed from its session, unless it may be about to open: {@code
 * $connect} registers a connection before its handshake ends, and until then API Gateway reports it
 * as gone. If it stays gone, a later frame or the housekeeper finds it.
 *
 * <p>One thread at a time may use a delivery.
 */
final class Delivery {
  /** Requests in flight at once for one frame. */
  private static final int LANES = 8;

  /** A socket whose frame fails after this time or more is slow. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Sockets sockets;
  private final Departure departure;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final TenantId tenant;
  private final SessionId session;
  private final Set<String> open = ConcurrentHashMap.newKeySet();
  private final Set<String> slow = ConcurrentHashMap.newKeySet();
  private final Predicate<String> established;
  private long nanosLeft;

  /**
   * A delivery to these sockets.
   *
   * @param nanoTime elapsed time in nanoseconds
   * @param open the ids of the session's connections
   * @param established whether the handshake of a connection has certainly ended
   * @param time how long all frames together may take
   */
  Delivery(
      Sockets sockets,
      Departure departure,
      Executor executor,
      LongSupplier nanoTime,
      TenantId tenant,
      SessionId session,
      Set<String> open,
      Predicate<String> established,
      Duration time) {
    this.sockets = sockets;
    this.departure = departure;
    this.executor = executor;
    this.nanoTime = nanoTime;
    this.tenant = tenant;
    this.session = session;
    this.open.addAll(open);
    this.established = established;
    this.nanosLeft = time.toNanos();
  }

  /**
   * Sends a frame to every socket.
   *
   * @param failed is told why, for each socket that did not get the frame; a socket that is gone is
   *     no failure
   */
  void toAll(String frame, Consumer<Throwable> failed) {
    post(List.copyOf(open), frame, failed);
  }

  /** Sends a frame to every socket but one. */
  void toOthersThan(String connectionId, String frame, Consumer<Throwable> failed) {
    post(open.stream().filter(other -> !other.equals(connectionId)).toList(), frame, failed);
  }

  /** Sends a frame to one socket, whether or not it is still in the session. */
  void to(String connectionId, String frame, Consumer<Throwable> failed) {
    post(List.of(connectionId), frame, failed);
  }

  private void post(List<String> to, String frame, Consumer<Throwable> failed) {
    if (nanosLeft <= 0) {
      to.forEach(socket -> failed.accept(new Unavailable("no time is left to send frames")));
      return;
    }
    long begun = nanoTime.getAsLong();
    Set<String> waiting = ConcurrentHashMap.newKeySet();
    waiting.addAll(to);
    AtomicInteger next = new AtomicInteger();
    Runnable lane =
        () -> {
          for (int i = next.getAndIncrement(); i < to.size(); i = next.getAndIncrement()) {
            post(to.get(i), frame, waiting, failed);
          }
        };
    CompletableFuture<?>[] lanes =
        IntStream.range(0, Math.min(LANES, to.size()))
            .mapToObj(i -> CompletableFuture.runAsync(lane, executor))
            .toArray(CompletableFuture<?>[]::new);
    if (!areDone(CompletableFuture.allOf(lanes))) {
      next.set(to.size());
      nanosLeft = 0;
      to.stream()
          .filter(waiting::remove)
          .forEach(socket -> failed.accept(new Unavailable("the frame was not sent in time")));
    }
    nanosLeft -= nanoTime.getAsLong() - begun;
  }

  private boolean areDone(CompletableFuture<Void> lanes) {
    try {
      lanes.get(nanosLeft, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException | ExecutionException late) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Sends the frame; {@code waiting} makes sure that one thread reports on the socket. */
  private void post(
      String connectionId, String frame, Set<String> waiting, Consumer<Throwable> failed) {
    if (slow.contains(connectionId)) {
      if (waiting.remove(connectionId)) {
        failed.accept(new Unavailable("the socket is slow"));
      }
      return;
    }
    long begun = nanoTime.getAsLong();
    try {
      Posted posted = sockets.post(connectionId, frame);
      waiting.remove(connectionId);
      if (posted == Posted.GONE) {
        remove(connectionId);
      }
    } catch (RuntimeException failure) {
      if (nanoTime.getAsLong() - begun >= SLOW_NANOS) {
        slow.add(connectionId);
      }
      if (waiting.remove(connectionId)) {
        failed.accept(failure);
      }
    }
  }

  private void remove(String connectionId) {
    open.remove(connectionId);
    if (established.test(connectionId)) {
      departQuietly(connectionId);
    }
  }

  /** If this fails, a later frame or the housekeeper finds the socket gone again. */
  private void departQuietly(String connectionId) {
    try {
      departure.depart(tenant, session, connectionId);
    } catch (Unavailable ignored) {
      return;
    }
  }
}

package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.admission.Departure;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.session.Sockets.Posted;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The sockets of one session, to send frames to: one frame to all of them beside each other, one
 * frame after another.
 *
 * <p>A socket that is found to be gone is taken off the books, unless it may be about to open: a
 * connection is registered before its handshake ends, and until then API Gateway says that it is
 * gone. One that is gone for good is found so again.
 */
final class Delivery {
  /** Requests that are under way at once for one frame. */
  private static final int LANES = 8;

  private final Sockets sockets;
  private final Departure departure;
  private final Executor executor;
  private final TenantId tenant;
  private final SessionId session;
  private final Set<String> open = ConcurrentHashMap.newKeySet();
  private final Predicate<String> established;

  /**
   * Deliveries to sockets.
   *
   * @param open the sockets
   * @param established tells of which sockets the handshake has ended for certain
   */
  Delivery(
      Sockets sockets,
      Departure departure,
      Executor executor,
      TenantId tenant,
      SessionId session,
      Set<String> open,
      Predicate<String> established) {
    this.sockets = sockets;
    this.departure = departure;
    this.executor = executor;
    this.tenant = tenant;
    this.session = session;
    this.open.addAll(open);
    this.established = established;
  }

  /**
   * Sends a frame to every socket.
   *
   * @throws Unavailable if there is a socket of which it cannot be said that the frame was sent
   */
  void toAll(String frame) {
    post(List.copyOf(open), frame);
  }

  /** Sends a frame to every socket but one, likewise. */
  void toOthersThan(String connectionId, String frame) {
    post(open.stream().filter(other -> !other.equals(connectionId)).toList(), frame);
  }

  /** Sends a frame to one socket, likewise, be it one of the session's or not. */
  void to(String connectionId, String frame) {
    if (sockets.post(connectionId, frame) == Posted.GONE) {
      open.remove(connectionId);
      if (established.test(connectionId)) {
        departQuietly(connectionId);
      }
    }
  }

  private void post(List<String> to, String frame) {
    if (to.size() == 1) {
      to(to.get(0), frame);
      return;
    }
    List<CompletableFuture<Optional<Unavailable>>> lanes =
        IntStream.range(0, Math.min(LANES, to.size()))
            .mapToObj(lane -> CompletableFuture.supplyAsync(() -> post(to, lane, frame), executor))
            .toList();
    List<Unavailable> failures =
        lanes.stream().map(CompletableFuture::join).flatMap(Optional::stream).toList();
    if (!failures.isEmpty()) {
      throw failures.get(0);
    }
  }

  private Optional<Unavailable> post(List<String> to, int lane, String frame) {
    try {
      for (int i = lane; i < to.size(); i += LANES) {
        to(to.get(i), frame);
      }
      return Optional.empty();
    } catch (Unavailable failure) {
      return Optional.of(failure);
    }
  }

  /** What cannot be taken off now is found again by whoever keeps the books right. */
  private void departQuietly(String connectionId) {
    try {
      departure.depart(tenant, session, connectionId);
    } catch (Unavailable ignored) {
      return;
    }
  }
}

package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.tenant.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A session, which a client creates over HTTP and several sockets use. It ends when it is idle for
 * too long or reaches the end of its {@link Lifetime}.
 *
 * @param tenant the tenant
 * @param id its id
 * @param connections the ids of its open connections
 * @param endsAt when it ends unless it is used, to the second
 * @param arrival the theoretical arrival time of its rate, if it was ever used
 * @param joinedAt when its connections joined, to the second; missing in rows of older versions
 * @param messageAt when a message of its sockets was last recorded, if one was
 * @param processed processed messages that are stored here instead of in the log, by their clients'
 *     ids, each with the instant at which it expires
 * @param lifetime bounds its end
 * @param place its place in the line of its tenant's {@code connect} bucket, if it took one or is
 *     about to
 * @param placeTaken whether it certainly took that place. If not, another session may have it
 */
public record Session(
    TenantId tenant,
    SessionId id,
    Set<String> connections,
    Instant endsAt,
    Optional<Instant> arrival,
    Map<String, Instant> joinedAt,
    Optional<Instant> messageAt,
    Map<String, Instant> processed,
    Lifetime lifetime,
    Optional<Place> place,
    boolean placeTaken) {
  /** The longest time of a handshake. API Gateway stops waiting for its integrations earlier. */
  public static final Duration MAX_HANDSHAKE = Duration.ofSeconds(30);

  /** Sorts sessions with connections first, because their sockets are the first to close. */
  public static final Comparator<Session> CONNECTED_FIRST =
      Comparator.comparing(session -> session.connections().isEmpty());

  /** Copies the set and the maps; without a place, none is taken. */
  public Session {
    connections = Set.copyOf(connections);
    joinedAt = Map.copyOf(joinedAt);
    processed = Map.copyOf(processed);
    placeTaken = placeTaken && place.isPresent();
  }

  /**
   * A session without messages, for which neither its creation nor the joining of its connections
   * is known.
   */
  public Session(
      TenantId tenant,
      SessionId id,
      Set<String> connections,
      Instant endsAt,
      Optional<Instant> arrival) {
    this(
        tenant,
        id,
        connections,
        endsAt,
        arrival,
        Map.of(),
        Optional.empty(),
        Map.of(),
        Lifetime.UNKNOWN,
        Optional.empty(),
        false);
  }

  /** This session with another end. */
  public Session endingAt(Instant end) {
    return new Session(
        tenant,
        id,
        connections,
        end,
        arrival,
        joinedAt,
        messageAt,
        processed,
        lifetime,
        place,
        placeTaken);
  }

  /**
   * This session with another place, or without one.
   *
   * @param isTaken whether it certainly took it
   */
  public Session with(Optional<Place> next, boolean isTaken) {
    return new Session(
        tenant,
        id,
        connections,
        endsAt,
        arrival,
        joinedAt,
        messageAt,
        processed,
        lifetime,
        next,
        isTaken);
  }

  /**
   * When a connection joined. If the row does not contain it, the arrival time, which is later than
   * any joining.
   */
  public Instant joinedAt(String connectionId) {
    return Optional.ofNullable(joinedAt.get(connectionId)).or(() -> arrival).orElse(endsAt);
  }

  /**
   * When a connection was last known to be open: it joined, or a message was delivered to all
   * connections of the session, which removes closed ones.
   */
  public Instant lastSignOfLife(String connectionId) {
    Instant joined = joinedAt(connectionId);
    return messageAt.filter(joined::isBefore).orElse(joined);
  }

  /** Whether some connection has shown no sign of life since {@code then}. */
  public boolean hasSilentConnectionSince(Instant then) {
    return connections.stream().anyMatch(id -> lastSignOfLife(id).isBefore(then));
  }

  /** Whether it holds processed messages that have not expired. */
  public boolean remembersMessagesAt(Instant now) {
    return processed.values().stream().anyMatch(now::isBefore);
  }

  /** When it ends at the latest; empty if nothing limits it yet. */
  public Optional<Instant> latestEnd(Limits limits) {
    return lifetime.latestEnd(limits).map(bound -> bound.isBefore(endsAt) ? endsAt : bound);
  }

  /** Whether it has ended. Its row may still exist. */
  public boolean hasEndedAt(Instant now) {
    return !now.isBefore(endsAt);
  }
}

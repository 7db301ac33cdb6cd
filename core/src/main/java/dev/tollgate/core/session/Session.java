package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A session: created over HTTP, used by several sockets, over when it was idle for too long or has
 * lived out its {@link Lifetime}.
 *
 * @param tenant whose it is
 * @param id its name
 * @param connections the ids of its open sockets
 * @param endsAt when it is over unless something happens, to the second
 * @param arrival the theoretical arrival time of its rate, if it was ever used
 * @param joinedAt when its connections joined, to the second; rows of older versions do not say
 * @param messageAt when a message of its sockets was last written down, if one was
 * @param processed messages that extended it when they were processed, by the names that clients
 *     gave them, each with the instant when that may be forgotten
 * @param lifetime what bounds its life, however much it is used
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
    Lifetime lifetime) {
  /** The longest time of a handshake. API Gateway stops waiting for its integrations earlier. */
  public static final Duration MAX_HANDSHAKE = Duration.ofSeconds(30);

  /** Sorts sessions with connections first, because their sockets are the first to close. */
  public static final Comparator<Session> CONNECTED_FIRST =
      Comparator.comparing(session -> session.connections().isEmpty());

  /** Copies the set and the maps. */
  public Session {
    connections = Set.copyOf(connections);
    joinedAt = Map.copyOf(joinedAt);
    processed = Map.copyOf(processed);
  }

  /**
   * A session of which nothing tells when its connections joined nor when it was created, and in
   * which none spoke.
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
        Lifetime.UNKNOWN);
  }

  /**
   * When a connection joined. If the row does not say, the arrival time stands for it, which lies
   * after the instant at which any connection joined.
   */
  public Instant joinedAt(String connectionId) {
    return Optional.ofNullable(joinedAt.get(connectionId)).or(() -> arrival).orElse(endsAt);
  }

  /**
   * When a connection last showed that it was alive: it joined, or a message was delivered to all
   * connections of the session, by which those that are gone are found and removed.
   */
  public Instant lastSignOfLife(String connectionId) {
    Instant joined = joinedAt(connectionId);
    return messageAt.filter(joined::isBefore).orElse(joined);
  }

  /** Whether some connection has shown no sign of life since then. */
  public boolean hasSilentConnectionSince(Instant then) {
    return connections.stream().anyMatch(id -> lastSignOfLife(id).isBefore(then));
  }

  /** Whether it notes messages that are still to be known. */
  public boolean remembersMessagesAt(Instant now) {
    return processed.values().stream().anyMatch(now::isBefore);
  }

  /** When it is over whatever happens; empty if nothing bounds it yet. */
  public Optional<Instant> latestEnd(Limits limits) {
    return lifetime.latestEnd(limits).map(bound -> bound.isBefore(endsAt) ? endsAt : bound);
  }

  /** Whether it is over, be its row deleted yet or not. */
  public boolean hasEndedAt(Instant now) {
    return !now.isBefore(endsAt);
  }
}

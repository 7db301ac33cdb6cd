package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A session: created over HTTP, used by several sockets, over when it was idle for too long.
 *
 * @param tenant whose it is
 * @param id its name
 * @param connections the ids of its open sockets
 * @param endsAt when it is over unless something happens, to the second
 * @param arrival the theoretical arrival time of its rate, if it was ever used
 * @param processed messages that extended it when they were processed, by the names that clients
 *     gave them, each with the instant when that may be forgotten
 */
public record Session(
    TenantId tenant,
    SessionId id,
    Set<String> connections,
    Instant endsAt,
    Optional<Instant> arrival,
    Map<String, Instant> processed) {
  /** Copies set and map. */
  public Session {
    connections = Set.copyOf(connections);
    processed = Map.copyOf(processed);
  }

  /** A session that no message has extended. */
  public Session(
      TenantId tenant,
      SessionId id,
      Set<String> connections,
      Instant endsAt,
      Optional<Instant> arrival) {
    this(tenant, id, connections, endsAt, arrival, Map.of());
  }

  /** Whether it is over, be its row deleted yet or not. */
  public boolean endedAt(Instant now) {
    return !now.isBefore(endsAt);
  }
}

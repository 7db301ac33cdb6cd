package dev.tollgate.core.simulation;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Sockets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The open sockets with their tenants. */
final class OpenSockets implements Sockets {
  private final Map<String, TenantId> open = new HashMap<>();
  private final Map<TenantId, Long> counts = new HashMap<>();
  private long max;

  /** Opens a socket; returns the number of open sockets of its tenant. */
  long open(String connectionId, TenantId tenant) {
    open.put(connectionId, tenant);
    max = Math.max(max, open.size());
    return counts.merge(tenant, 1L, Long::sum);
  }

  long openOf(TenantId tenant) {
    return counts.getOrDefault(tenant, 0L);
  }

  /** The highest number of sockets open at a time. */
  long max() {
    return max;
  }

  @Override
  public CloseResult close(String connectionId) {
    Optional<TenantId> of = Optional.ofNullable(open.remove(connectionId));
    of.ifPresent(tenant -> counts.merge(tenant, -1L, Long::sum));
    return of.isPresent() ? CloseResult.CLOSED : CloseResult.GONE;
  }

  @Override
  public boolean isOpen(String connectionId) {
    return open.containsKey(connectionId);
  }

  @Override
  public PostResult post(String connectionId, String frame) {
    return isOpen(connectionId) ? PostResult.SENT : PostResult.GONE;
  }
}

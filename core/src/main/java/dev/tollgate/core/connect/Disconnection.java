package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.SessionId;
import java.util.Set;

/**
 * Removes a closed connection: first from its session, and, if it was in the session, from the
 * tenant's count. A repeated or late event has no further effect and creates no row.
 */
public final class Disconnection {
  private final Connections connections;

  /** Removes connections from {@code connections}. */
  public Disconnection(Connections connections) {
    this.connections = connections;
  }

  /**
   * Removes the connection.
   *
   * @throws Unavailable if a write failed; the event may then be handled again
   */
  public LeaveResult remove(TenantId tenant, SessionId session, String connectionId) {
    LeaveResult result = connections.leave(tenant, session, connectionId);
    if (result == LeaveResult.REMOVED) {
      connections.countDown(tenant, Set.of(connectionId));
    }
    return result;
  }
}

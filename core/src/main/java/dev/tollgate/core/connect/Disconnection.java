package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.SessionId;
import java.util.Set;

/**
 * Takes a closed connection off the books: out of its session first, and only if it was in, off the
 * tenant's count. An event that comes twice, or late, changes nothing twice and creates nothing.
 */
public final class Disconnection {
  private final Connections connections;

  /** A departure from {@code connections}. */
  public Disconnection(Connections connections) {
    this.connections = connections;
  }

  /**
   * Takes the connection off the books.
   *
   * @throws Unavailable if that could not be written; the event may then be handled again
   */
  public LeaveResult remove(TenantId tenant, SessionId session, String connectionId) {
    LeaveResult left = connections.leave(tenant, session, connectionId);
    if (left == LeaveResult.REMOVED) {
      connections.countDown(tenant, Set.of(connectionId));
    }
    return left;
  }
}

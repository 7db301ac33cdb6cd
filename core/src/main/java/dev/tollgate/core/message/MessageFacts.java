package dev.tollgate.core.message;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Tenant;
import java.util.Map;
import java.util.Optional;

/**
 * What one read tells of a tenant, sessions of it, and what its messages are paid from.
 *
 * @param tenant the tenant, if there is one
 * @param sessions the sessions that there are
 * @param bucket the tenant's {@code message} bucket, if it has been opened
 */
public record MessageFacts(
    Optional<Tenant> tenant, Map<SessionId, Session> sessions, Optional<Bucket> bucket) {
  /** Copies the map. */
  public MessageFacts {
    sessions = Map.copyOf(sessions);
  }
}

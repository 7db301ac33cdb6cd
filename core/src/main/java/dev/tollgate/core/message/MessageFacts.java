package dev.tollgate.core.message;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Tenant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What one read tells of a tenant, sessions of it, and what its messages are paid from.
 *
 * @param tenant the tenant, if there is one
 * @param sessions the sessions that there are
 * @param bucket the tenant's {@code message} bucket, if it has been opened
 * @param processed the messages that are known as processed
 */
public record MessageFacts(
    Optional<Tenant> tenant,
    Map<SessionId, Session> sessions,
    Optional<Bucket> bucket,
    Set<MessageName> processed) {
  /** Copies map and set. */
  public MessageFacts {
    sessions = Map.copyOf(sessions);
    processed = Set.copyOf(processed);
  }
}

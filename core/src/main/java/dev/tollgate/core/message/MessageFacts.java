package dev.tollgate.core.message;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Tenant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The rows that a batch of a tenant's messages depends on.
 *
 * @param tenant the tenant, if it exists
 * @param sessions the existing sessions
 * @param bucket the tenant's {@code message} bucket, if it exists
 * @param processed the messages that were processed before
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

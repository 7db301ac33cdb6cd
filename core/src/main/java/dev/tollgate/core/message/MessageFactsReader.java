package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.SessionId;
import java.util.Set;

/** Reads what the processing of a tenant's messages is decided on. */
@FunctionalInterface
public interface MessageFactsReader {
  /**
   * Tenant, sessions and bucket in one consistent request.
   *
   * @param sessions no more than a batch of messages can come from
   * @throws Unavailable if that could not be asked
   */
  MessageFacts read(TenantId tenant, Set<SessionId> sessions);
}

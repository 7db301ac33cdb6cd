package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.SessionId;
import java.util.Set;

/** Reads what the processing of a tenant's messages is decided on. */
@FunctionalInterface
public interface MessageFactsReader {
  /**
   * Tenant, sessions, bucket and the log of messages in one consistent request.
   *
   * @param sessions no more than a batch of messages can come from
   * @param messages no more than a batch has; those of which to tell whether they were processed
   * @throws Unavailable if that could not be asked
   */
  MessageFacts read(TenantId tenant, Set<SessionId> sessions, Set<MessageName> messages);
}

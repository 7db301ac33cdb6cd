package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.SessionId;
import java.util.Set;

/** Reads the rows that a batch of a tenant's messages depends on. */
@FunctionalInterface
public interface MessageFactsReader {
  /**
   * Tenant, sessions, bucket and the log of messages in one consistent request.
   *
   * @param sessions the sessions of the batch
   * @param messages the messages to look up in the log
   * @throws Unavailable if the store fails
   */
  MessageFacts read(TenantId tenant, Set<SessionId> sessions, Set<MessageName> messages);
}

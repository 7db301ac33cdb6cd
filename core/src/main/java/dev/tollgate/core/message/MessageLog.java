package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.util.Set;

/**
 * Stores which messages were processed, except those in their session's row. A {@link
 * MessageFactsReader} reads both.
 */
@FunctionalInterface
public interface MessageLog {
  /**
   * Adds processed messages with one request. Idempotent.
   *
   * @param messages 1 to 25 (DynamoDB BatchWriteItem)
   * @param until when the entries expire, in whole seconds
   * @throws Unavailable if not all entries were written
   */
  void add(TenantId tenant, Set<MessageName> messages, Instant until);
}

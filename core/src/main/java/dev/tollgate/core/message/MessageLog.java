package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.util.Set;

/**
 * Where it is written down which messages were processed, but for those that their session notes; a
 * {@link MessageFactsReader} reads both.
 */
@FunctionalInterface
public interface MessageLog {
  /**
   * Writes down in one request that messages were processed. Harmless when repeated.
   *
   * @param messages 1 to 25 (DynamoDB BatchWriteItem)
   * @param until when this may be forgotten, in whole seconds
   * @throws Unavailable if that could not be written, or not for all
   */
  void add(TenantId tenant, Set<MessageName> messages, Instant until);
}

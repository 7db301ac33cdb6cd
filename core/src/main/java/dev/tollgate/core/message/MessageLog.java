package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;

/**
 * Where it is written down which messages were processed; a {@link MessageFactsReader} reads it.
 */
@FunctionalInterface
public interface MessageLog {
  /**
   * Writes down that a message was processed. Harmless when repeated.
   *
   * @param until when this may be forgotten, in whole seconds
   * @throws Unavailable if that could not be written
   */
  void add(TenantId tenant, MessageName message, Instant until);
}

package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;

/**
 * What a client sent, as a queue delivers it.
 *
 * @param tenant whose client sent it
 * @param session the session that it was sent in
 * @param connectionId the socket that it was sent on
 * @param id the client's name for it if it gave one, else the queue's
 * @param content what was sent
 */
public record Incoming(
    TenantId tenant, SessionId session, String connectionId, String id, Content content) {

  /** What was sent. */
  public sealed interface Content {}

  /**
   * A message.
   *
   * @param json its JSON text, byte for byte
   */
  public record Message(String json) implements Content {}

  /**
   * Something that is no message and never will be.
   *
   * @param flaw what is wrong with it, fit for whoever sent it
   */
  public record Unreadable(String flaw) implements Content {}
}

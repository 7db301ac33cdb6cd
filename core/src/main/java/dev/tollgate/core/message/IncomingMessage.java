package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;
import java.util.Optional;

/**
 * What a client sent, as a queue delivers it.
 *
 * @param tenant whose client sent it
 * @param session the session that it was sent in
 * @param connectionId the socket that it was sent on
 * @param queueId the queue's name for it; the same each time the queue delivers it
 * @param clientId the client's name for it, if it gave one
 * @param content what was sent
 */
public record IncomingMessage(
    TenantId tenant,
    SessionId session,
    String connectionId,
    String queueId,
    Optional<String> clientId,
    Content content) {

  /** What frames call it: the client's name if it gave one, else the queue's. */
  public String id() {
    return clientId.orElse(queueId);
  }

  /** The name under which the client may send it again, if it gave one. */
  public Optional<MessageName> name() {
    return clientId.map(id -> new MessageName(session, id));
  }

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

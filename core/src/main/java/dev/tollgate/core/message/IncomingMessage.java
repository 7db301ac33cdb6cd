package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;
import java.util.Optional;

/**
 * A client's frame as the queue delivers it.
 *
 * @param tenant the tenant of the client
 * @param session the session of its socket
 * @param connectionId the connection id of the socket
 * @param queueId the queue's id, which is the same at each delivery
 * @param clientId the client's id, if it set one
 * @param redriven whether it was a dead letter that an operator moved back
 * @param content the content
 */
public record IncomingMessage(
    TenantId tenant,
    SessionId session,
    String connectionId,
    String queueId,
    Optional<String> clientId,
    boolean redriven,
    Content content) {

  /** The id in frames: the client's, or else the queue's. */
  public String id() {
    return clientId.orElse(queueId);
  }

  /** The name that identifies repetitions, if the client set an id. */
  public Optional<MessageName> name() {
    return clientId.map(id -> new MessageName(session, id));
  }

  /** The content of a frame. */
  public sealed interface Content {}

  /**
   * A message.
   *
   * @param json its JSON text, byte for byte
   */
  public record Message(String json) implements Content {}

  /**
   * A frame that is no valid message.
   *
   * @param flaw what is wrong with it, for its sender
   */
  public record Unreadable(String flaw) implements Content {}
}

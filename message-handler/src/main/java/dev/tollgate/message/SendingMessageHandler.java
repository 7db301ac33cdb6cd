package dev.tollgate.message;

import java.util.List;

/** A {@link TenantMessageHandler} that also sends to other sessions of the tenant. */
@FunctionalInterface
public interface SendingMessageHandler extends TenantMessageHandler {
  /**
   * Handles a message as {@link TenantMessageHandler#handle(TenantMessage)}.
   *
   * @param outbox sends to other sessions of the message's tenant
   * @throws Exception as {@link TenantMessageHandler#handle(TenantMessage)}
   */
  List<String> handle(TenantMessage message, Outbox outbox) throws Exception;

  /** Handles a message without an outbox; whatever the handler sends reaches nobody. */
  @Override
  default List<String> handle(TenantMessage message) throws Exception {
    return handle(message, (sessionId, json) -> 0);
  }
}

package dev.tollgate.handlers;

import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.util.List;

/** Replies to each message with the message itself. */
public final class Echo implements TenantMessageHandler {
  /** The handler as it is made by its name. */
  public Echo() {}

  @Override
  public List<String> handle(TenantMessage message) {
    return List.of(message.json());
  }
}

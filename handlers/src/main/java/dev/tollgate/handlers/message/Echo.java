package dev.tollgate.handlers.message;

import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.util.List;

/** The default application: replies to each message with the message itself. */
public final class Echo implements TenantMessageHandler {
  /** A handler, as {@link HandlerLoader} creates it. */
  public Echo() {}

  @Override
  public List<String> handle(TenantMessage message) {
    return List.of(message.json());
  }
}

package com.example;

import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.time.Instant;
import java.util.List;

/** Sends every message of a chat, with its time, to all sockets of the session. */
public final class Chat implements TenantMessageHandler {
  @Override
  public List<String> handle(TenantMessage message) {
    // The client's message is JSON already: a string with quotation marks.
    return List.of("{\"at\": \"%s\", \"text\": %s}".formatted(Instant.now(), message.json()));
  }
}

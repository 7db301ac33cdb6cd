package com.example;

import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.time.InstantSource;
import java.util.List;

/** Sends every message of a chat, with its time, to all sockets of the session. */
public final class Chat implements TenantMessageHandler {
  private final InstantSource clock;

  /** Called once for each instance of the function. */
  public Chat() {
    this(InstantSource.system());
  }

  Chat(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public List<String> handle(TenantMessage message) {
    // The client's message is JSON already: a string with quotation marks.
    return List.of("{\"at\": \"%s\", \"text\": %s}".formatted(clock.instant(), message.json()));
  }
}

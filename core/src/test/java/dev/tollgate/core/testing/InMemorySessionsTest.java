package dev.tollgate.core.testing;

import dev.tollgate.core.session.Sessions;

class InMemorySessionsTest extends SessionsContract {
  private final InMemorySessions sessions = new InMemorySessions();

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

package dev.tollgate.core.testing.memory;

import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.SessionsContract;

class InMemorySessionsTest extends SessionsContract {
  private final InMemorySessions sessions = new InMemorySessions();

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

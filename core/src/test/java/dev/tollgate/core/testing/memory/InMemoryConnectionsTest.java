package dev.tollgate.core.testing.memory;

import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.ConnectionsContract;

class InMemoryConnectionsTest extends ConnectionsContract {
  private final InMemorySessions sessions = new InMemorySessions();

  @Override
  protected Connections connections() {
    return sessions;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

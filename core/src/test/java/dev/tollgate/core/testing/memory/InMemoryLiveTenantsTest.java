package dev.tollgate.core.testing.memory;

import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.LiveTenantsContract;

class InMemoryLiveTenantsTest extends LiveTenantsContract {
  private final InMemorySessions sessions = new InMemorySessions();

  @Override
  protected LiveTenants live() {
    return sessions;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

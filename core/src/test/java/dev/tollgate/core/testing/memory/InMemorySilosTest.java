package dev.tollgate.core.testing.memory;

import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.testing.contract.SilosContract;

class InMemorySilosTest extends SilosContract {
  private final Silos silos = new InMemorySilos();

  @Override
  protected Silos silos() {
    return silos;
  }
}

package dev.tollgate.core.testing;

import dev.tollgate.core.provisioning.Silos;

class InMemorySilosTest extends SilosContract {
  private final Silos silos = new InMemorySilos();

  @Override
  protected Silos silos() {
    return silos;
  }
}

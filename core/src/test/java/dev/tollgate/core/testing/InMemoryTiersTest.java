package dev.tollgate.core.testing;

import dev.tollgate.core.tenant.Tiers;

class InMemoryTiersTest extends TiersContract {
  private final InMemoryTiers tiers = new InMemoryTiers();

  @Override
  protected Tiers tiers() {
    return tiers;
  }
}

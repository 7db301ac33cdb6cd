package dev.tollgate.core.testing.memory;

import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.contract.TiersContract;

class InMemoryTiersTest extends TiersContract {
  private final InMemoryTiers tiers = new InMemoryTiers();

  @Override
  protected Tiers tiers() {
    return tiers;
  }
}

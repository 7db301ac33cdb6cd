package dev.tollgate.aws;

import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.TiersContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbTiersTest extends TiersContract {
  private final Tiers tiers;

  DynamoDbTiersTest(Engines.Tables tables) {
    tiers = new DynamoDbTiers(tables.client(), tables.tier());
  }

  @Override
  protected Tiers tiers() {
    return tiers;
  }
}

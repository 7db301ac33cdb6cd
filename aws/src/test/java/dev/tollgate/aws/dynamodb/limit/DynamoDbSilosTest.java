package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.testing.contract.SilosContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbSilosTest extends SilosContract {
  private final Silos silos;

  DynamoDbSilosTest(Engines.Tables tables) {
    silos = new DynamoDbSilos(tables.client(), tables.limit(), Engines.ANYBODY);
  }

  @Override
  protected Silos silos() {
    return silos;
  }
}

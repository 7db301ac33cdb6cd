package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.LiveTenantsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbLiveTenantsTest extends LiveTenantsContract {
  private final DynamoDbPorts ports;

  DynamoDbLiveTenantsTest(Engines.Tables engine) {
    ports = new DynamoDbPorts(engine);
  }

  @Override
  protected LiveTenants live() {
    return ports.liveTenants();
  }

  @Override
  protected Sessions sessions() {
    return ports.sessions();
  }
}

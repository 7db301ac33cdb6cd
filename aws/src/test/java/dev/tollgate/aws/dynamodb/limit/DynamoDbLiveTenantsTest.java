package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.LiveTenantsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbLiveTenantsTest extends LiveTenantsContract {
  private final SessionTables tables;

  DynamoDbLiveTenantsTest(Engines.Tables engine) {
    tables =
        new SessionTables(
            engine.client(), engine.client(), engine.session(), engine.limit(), Engines.ANYBODY);
  }

  @Override
  protected LiveTenants live() {
    return new DynamoDbLiveTenants(tables);
  }

  @Override
  protected Sessions sessions() {
    return new DynamoDbSessions(tables);
  }
}

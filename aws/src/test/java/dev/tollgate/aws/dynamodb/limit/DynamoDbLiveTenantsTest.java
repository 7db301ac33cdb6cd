package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.LiveTenantsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbLiveTenantsTest extends LiveTenantsContract {
  private final DynamoDbSessions sessions;

  DynamoDbLiveTenantsTest(Engines.Tables tables) {
    sessions =
        new DynamoDbSessions(
            tables.client(), tables.client(), tables.session(), tables.limit(), Engines.ANYBODY);
  }

  @Override
  protected LiveTenants live() {
    return sessions;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

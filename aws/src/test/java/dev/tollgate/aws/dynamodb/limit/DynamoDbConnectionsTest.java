package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.ConnectionsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbConnectionsTest extends ConnectionsContract {
  private final DynamoDbSessions sessions;

  DynamoDbConnectionsTest(Engines.Tables tables) {
    sessions =
        new DynamoDbSessions(
            tables.client(), tables.client(), tables.session(), tables.limit(), Engines.ANYBODY);
  }

  @Override
  protected Connections connections() {
    return sessions;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.ConnectionsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbConnectionsTest extends ConnectionsContract {
  private final SessionTables tables;

  DynamoDbConnectionsTest(Engines.Tables engine) {
    tables =
        new SessionTables(
            engine.client(), engine.client(), engine.session(), engine.limit(), Engines.ANYBODY);
  }

  @Override
  protected Connections connections() {
    return new DynamoDbConnections(tables);
  }

  @Override
  protected Sessions sessions() {
    return new DynamoDbSessions(tables);
  }
}

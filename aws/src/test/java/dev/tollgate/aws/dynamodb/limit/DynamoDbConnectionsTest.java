package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.ConnectionsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbConnectionsTest extends ConnectionsContract {
  private final DynamoDbPorts ports;

  DynamoDbConnectionsTest(Engines.Tables engine) {
    ports = new DynamoDbPorts(engine);
  }

  @Override
  protected Connections connections() {
    return ports.connections();
  }

  @Override
  protected Sessions sessions() {
    return ports.sessions();
  }
}

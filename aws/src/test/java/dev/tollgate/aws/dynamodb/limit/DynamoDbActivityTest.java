package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.contract.ActivityContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbActivityTest extends ActivityContract {
  private final DynamoDbPorts ports;

  DynamoDbActivityTest(Engines.Tables tables) {
    ports = new DynamoDbPorts(tables);
  }

  @Override
  protected Activity activity() {
    return ports.activity();
  }

  @Override
  protected Connections connections() {
    return ports.connections();
  }

  @Override
  protected Buckets buckets() {
    return ports.buckets();
  }

  @Override
  protected Sessions sessions() {
    return ports.sessions();
  }
}

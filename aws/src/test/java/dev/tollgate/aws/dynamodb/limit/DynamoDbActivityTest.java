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
  private final SessionTables sessionTables;
  private final Buckets buckets;
  private final Activity activity;

  DynamoDbActivityTest(Engines.Tables tables) {
    String limits = tables.limit();
    sessionTables =
        new SessionTables(
            tables.client(), tables.client(), tables.session(), limits, Engines.ANYBODY);
    buckets = new DynamoDbBuckets(tables.client(), limits, Engines.ANYBODY);
    activity = new DynamoDbActivity(tables.client(), tables.client(), limits, Engines.ANYBODY);
  }

  @Override
  protected Activity activity() {
    return activity;
  }

  @Override
  protected Connections connections() {
    return new DynamoDbConnections(sessionTables);
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Override
  protected Sessions sessions() {
    return new DynamoDbSessions(sessionTables);
  }
}

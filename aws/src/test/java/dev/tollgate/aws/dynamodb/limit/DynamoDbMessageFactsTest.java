package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTenants;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.MessageFactsReaderContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbMessageFactsTest extends MessageFactsReaderContract {
  private final MessageFactsReader reader;
  private final Tenants tenants;
  private final Buckets buckets;
  private final SessionTables sessionTables;
  private final MessageLog log;

  DynamoDbMessageFactsTest(Engines.Tables engine) {
    DynamoDbFactsReader.Tables tables =
        new DynamoDbFactsReader.Tables(engine.tenant(), engine.session(), engine.limit());
    reader =
        new DynamoDbFactsReader(
            engine.client(), tables, Engines.ANYBODY, new ManualClock(Samples.NOW));
    tenants = new DynamoDbTenants(engine.client(), tables.tenant());
    buckets = new DynamoDbBuckets(engine.client(), tables.limit(), Engines.ANYBODY);
    log = new DynamoDbMessageLog(engine.client(), tables.limit(), Engines.ANYBODY);
    sessionTables =
        new SessionTables(
            engine.client(), engine.client(), tables.session(), tables.limit(), Engines.ANYBODY);
  }

  @Override
  protected MessageFactsReader messages() {
    return reader;
  }

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Override
  protected Sessions sessions() {
    return new DynamoDbSessions(sessionTables);
  }

  @Override
  protected MessageLog log() {
    return log;
  }

  @Override
  protected Connections connections() {
    return new DynamoDbConnections(sessionTables);
  }
}

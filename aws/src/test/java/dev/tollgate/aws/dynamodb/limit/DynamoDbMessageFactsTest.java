package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
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
  private final DynamoDbPorts ports;
  private final MessageFactsReader reader;

  DynamoDbMessageFactsTest(Engines.Tables tables) {
    ports = new DynamoDbPorts(tables);
    reader = ports.facts(new ManualClock(Samples.NOW));
  }

  @Override
  protected MessageFactsReader messages() {
    return reader;
  }

  @Override
  protected Tenants tenants() {
    return ports.tenants();
  }

  @Override
  protected Buckets buckets() {
    return ports.buckets();
  }

  @Override
  protected Sessions sessions() {
    return ports.sessions();
  }

  @Override
  protected MessageLog log() {
    return ports.messageLog();
  }

  @Override
  protected Connections connections() {
    return ports.connections();
  }
}

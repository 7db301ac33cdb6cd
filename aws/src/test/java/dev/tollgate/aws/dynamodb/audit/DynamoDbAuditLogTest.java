package dev.tollgate.aws.dynamodb.audit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.testing.contract.AuditLogContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbAuditLogTest extends AuditLogContract {
  private final AuditLog log;

  DynamoDbAuditLogTest(Engines.Tables tables) {
    log = new DynamoDbAuditLog(tables.client(), tables.audit());
  }

  @Override
  protected AuditLog log() {
    return log;
  }
}

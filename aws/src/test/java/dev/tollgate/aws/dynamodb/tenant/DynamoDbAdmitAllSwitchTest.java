package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.testing.contract.AdmitAllSwitchContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbAdmitAllSwitchTest extends AdmitAllSwitchContract {
  private final AdmitAllSwitch admitAll;

  DynamoDbAdmitAllSwitchTest(Engines.Tables tables) {
    admitAll = new DynamoDbAdmitAllSwitch(tables.client(), tables.tier(), () -> Author.UNKNOWN);
  }

  @Override
  protected AdmitAllSwitch admitAll() {
    return admitAll;
  }
}

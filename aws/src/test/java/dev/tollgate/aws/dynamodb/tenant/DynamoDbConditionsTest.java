package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.testing.contract.ConditionsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbConditionsTest implements ConditionsContract {
  private final Conditions conditions;

  DynamoDbConditionsTest(Engines.Tables tables) {
    conditions = new DynamoDbConditions(tables.client(), tables.tier(), () -> Author.UNKNOWN);
  }

  @Override
  public Conditions conditions() {
    return conditions;
  }
}

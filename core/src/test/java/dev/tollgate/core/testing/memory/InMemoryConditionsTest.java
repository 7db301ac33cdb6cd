package dev.tollgate.core.testing.memory;

import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.testing.contract.ConditionsContract;

final class InMemoryConditionsTest implements ConditionsContract {
  private final InMemoryConditions conditions = new InMemoryConditions();

  @Override
  public Conditions conditions() {
    return conditions;
  }
}

package dev.tollgate.core.testing.memory;

import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.testing.contract.WindowSchedulesContract;

class InMemoryWindowSchedulesTest extends WindowSchedulesContract {
  private final InMemoryWindowSchedules windows = new InMemoryWindowSchedules();

  @Override
  protected WindowSchedules windows() {
    return windows;
  }
}

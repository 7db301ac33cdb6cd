package dev.tollgate.core.testing.memory;

import dev.tollgate.core.history.History;
import dev.tollgate.core.testing.contract.HistoryContract;

class InMemoryHistoryTest extends HistoryContract {
  private final History history = new InMemoryHistory();

  @Override
  protected History history() {
    return history;
  }
}

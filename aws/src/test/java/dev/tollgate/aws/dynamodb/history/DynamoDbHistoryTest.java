package dev.tollgate.aws.dynamodb.history;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.testing.contract.HistoryContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbHistoryTest extends HistoryContract {
  private final History history;

  DynamoDbHistoryTest(Engines.Tables tables) {
    history = new DynamoDbHistory(tables.client(), tables.history(), Span.LONGEST);
  }

  @Override
  protected History history() {
    return history;
  }
}

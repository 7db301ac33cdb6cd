package dev.tollgate.aws;

import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.SessionsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbSessionsTest extends SessionsContract {
  private final Sessions sessions;

  DynamoDbSessionsTest(Engines.Tables tables) {
    sessions =
        new DynamoDbSessions(
            tables.client(), tables.client(), tables.session(), tables.limit(), Engines.ANYBODY);
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }
}

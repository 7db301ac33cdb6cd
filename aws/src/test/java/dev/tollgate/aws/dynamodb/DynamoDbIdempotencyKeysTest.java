package dev.tollgate.aws.dynamodb;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.testing.contract.IdempotencyKeysContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbIdempotencyKeysTest extends IdempotencyKeysContract {
  private final IdempotencyKeys keys;

  DynamoDbIdempotencyKeysTest(Engines.Tables tables) {
    keys = new DynamoDbIdempotencyKeys(tables.client(), tables.idempotency());
  }

  @Override
  protected IdempotencyKeys keys() {
    return keys;
  }
}

package dev.tollgate.core.testing.memory;

import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.testing.contract.IdempotencyKeysContract;

class InMemoryIdempotencyKeysTest extends IdempotencyKeysContract {
  private final InMemoryIdempotencyKeys keys = new InMemoryIdempotencyKeys();

  @Override
  protected IdempotencyKeys keys() {
    return keys;
  }
}

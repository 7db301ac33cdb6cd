package dev.tollgate.core.testing;

import dev.tollgate.core.idempotency.IdempotencyKeys;

class InMemoryIdempotencyKeysTest extends IdempotencyKeysContract {
  private final InMemoryIdempotencyKeys keys = new InMemoryIdempotencyKeys();

  @Override
  protected IdempotencyKeys keys() {
    return keys;
  }
}

package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.DeadLetter.Source;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.DeadLettersContract;
import java.time.InstantSource;
import java.util.List;

final class InMemoryDeadLettersTest extends DeadLettersContract {
  private final InMemoryDeadLetters letters =
      new InMemoryDeadLetters(InstantSource.fixed(Samples.NOW));

  @Override
  protected DeadLetters deadLetters() {
    return letters;
  }

  @Override
  protected void createSilo(TenantId tenant) {
    letters.createSilo(tenant);
  }

  @Override
  protected void add(Source source, String group, String body) {
    letters.add(source, group, body);
  }

  @Override
  protected List<String> take(Source queue, TenantId tenant) {
    return letters.take(queue, tenant);
  }
}

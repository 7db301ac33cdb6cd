package dev.tollgate.core.testing.memory;

import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.MessageFactsReaderContract;

class InMemoryMessageFactsTest extends MessageFactsReaderContract {
  private final InMemoryTenants tenants = new InMemoryTenants();
  private final InMemorySessions sessions = new InMemorySessions();
  private final InMemoryBuckets buckets = new InMemoryBuckets();
  private final InMemoryMessageLog log = new InMemoryMessageLog();

  @Override
  protected MessageFactsReader messages() {
    return new InMemoryMessageFacts(tenants, sessions, buckets, log, new ManualClock(Samples.NOW));
  }

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }

  @Override
  protected MessageLog log() {
    return log;
  }

  @Override
  protected Connections connections() {
    return sessions;
  }
}

package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageName;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A log of messages in memory. */
public final class InMemoryMessageLog implements MessageLog {
  private final Map<Entry, Instant> entries = new HashMap<>();
  private final Outage outage = new Outage();

  /** The outage of writes. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized void add(TenantId tenant, Set<MessageName> messages, Instant until) {
    outage.check("add");
    messages.forEach(
        message -> entries.put(new Entry(tenant, message), until.truncatedTo(ChronoUnit.SECONDS)));
  }

  synchronized boolean has(TenantId tenant, MessageName message, Instant now) {
    return Optional.ofNullable(entries.get(new Entry(tenant, message)))
        .filter(now::isBefore)
        .isPresent();
  }

  private record Entry(TenantId tenant, MessageName message) {}
}

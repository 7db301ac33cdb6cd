package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.message.MessageFacts;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads the facts for message processing from the other in-memory ports. */
public final class InMemoryMessageFacts implements MessageFactsReader {
  private final InMemoryTenants tenants;
  private final InMemorySessions sessions;
  private final InMemoryBuckets buckets;
  private final InMemoryMessageLog log;
  private final InstantSource clock;
  private final Outage outage = new Outage();

  /** Creates a reader of these ports. */
  public InMemoryMessageFacts(
      InMemoryTenants tenants,
      InMemorySessions sessions,
      InMemoryBuckets buckets,
      InMemoryMessageLog log,
      InstantSource clock) {
    this.tenants = tenants;
    this.sessions = sessions;
    this.buckets = buckets;
    this.log = log;
    this.clock = clock;
  }

  /** The outage of reads; {@code "read " + tenant} names the reads of one tenant. */
  public Outage outage() {
    return outage;
  }

  @Override
  public MessageFacts read(TenantId tenant, Set<SessionId> of, Set<MessageName> messages) {
    outage.check("read");
    outage.check("read " + tenant);
    return new MessageFacts(
        tenants.find(tenant),
        of.stream()
            .map(id -> sessions.find(tenant, id))
            .flatMap(Optional::stream)
            .collect(Collectors.toMap(Session::id, Function.identity())),
        buckets.find(new BucketId(tenant, Action.MESSAGE)),
        messages.stream()
            .filter(name -> log.has(tenant, name, clock.instant()) || isRecorded(tenant, name))
            .collect(Collectors.toUnmodifiableSet()));
  }

  private boolean isRecorded(TenantId tenant, MessageName name) {
    return sessions
        .find(tenant, name.session())
        .map(session -> session.processed().get(name.id()))
        .filter(clock.instant()::isBefore)
        .isPresent();
  }
}

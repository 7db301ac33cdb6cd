package dev.tollgate.core.testing;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketFill;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Stand-ins for every port of an admission, with tenants and sessions to fill them. */
public final class Town {
  /** Where its clock stands at first: on a full minute. */
  public static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private static final SecureRandom RANDOM = new SecureRandom();

  private final ManualClock clock = new ManualClock(START);
  private final InMemoryTokenQueue queue = new InMemoryTokenQueue(clock);
  private final InMemoryBuckets buckets = new InMemoryBuckets();
  private final InMemoryTenants tenants = new InMemoryTenants();
  private final InMemorySessions sessions = new InMemorySessions();
  private final InMemoryFacts facts = new InMemoryFacts(tenants, sessions, buckets);

  /** The clock that drives it. */
  public ManualClock clock() {
    return clock;
  }

  /** Its tokens. */
  public InMemoryTokenQueue queue() {
    return queue;
  }

  /** Its buckets. */
  public InMemoryBuckets buckets() {
    return buckets;
  }

  /** Its tenants. */
  public InMemoryTenants tenants() {
    return tenants;
  }

  /** Its sessions and connections. */
  public InMemorySessions sessions() {
    return sessions;
  }

  /** What is known of it. */
  public InMemoryFacts facts() {
    return facts;
  }

  /** A fill of its buckets. */
  public BucketFill fill() {
    return new BucketFill(buckets, queue, clock);
  }

  /** A tenant of a default tier, its buckets opened and full. */
  public Tenant onboard(String id, String tier, Map<Limit, Long> overrides) {
    Tier chosen =
        Tier.DEFAULTS.stream()
            .filter(candidate -> candidate.name().value().equals(tier))
            .findFirst()
            .orElseThrow();
    Tenant tenant = Tenant.onboarded(new TenantId(id), chosen, overrides);
    tenants.create(tenant);
    tenant
        .buckets()
        .forEach(
            (action, spec) -> {
              BucketId bucket = new BucketId(tenant.id(), action);
              queue.make(bucket);
              buckets.open(Bucket.opened(bucket, spec, clock.instant()));
              fill().fill(bucket, clock.instant());
            });
    return tenant;
  }

  /** A session of a tenant, open for an hour. */
  public SessionId open(Tenant tenant) {
    SessionId id = SessionId.random(RANDOM);
    sessions.create(
        new Session(
            tenant.id(), id, Set.of(), clock.instant().plusSeconds(3600), Optional.empty()));
    return id;
  }

  /** The bucket that pays for a tenant's connections. */
  public static BucketId connects(Tenant tenant) {
    return new BucketId(tenant.id(), Action.CONNECT);
  }
}

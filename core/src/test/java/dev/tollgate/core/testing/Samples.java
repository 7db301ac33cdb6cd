package dev.tollgate.core.testing;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Tenants, buckets and sessions with unique names. */
public final class Samples {
  /** An instant with nanoseconds. */
  public static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123456789Z");

  private static final SecureRandom RANDOM = new SecureRandom();

  private Samples() {}

  /** A unique tenant id. */
  public static TenantId tenantId() {
    return new TenantId("t-" + UUID.randomUUID().toString().substring(0, 18));
  }

  /** A new tenant of a tier. */
  public static Tenant tenant(Tier tier) {
    return Tenant.onboarded(tenantId(), tier, Overrides.NONE);
  }

  /** A new tenant of the first default tier. */
  public static Tenant tenant() {
    return tenant(Tier.DEFAULTS.get(0));
  }

  /** The {@code connect} bucket of a new tenant. */
  public static BucketId bucketId() {
    return new BucketId(tenantId(), Action.CONNECT);
  }

  /** A bucket of 60 a minute that was opened at {@link #NOW}. */
  public static Bucket bucket(BucketId id) {
    return Bucket.opened(id, BucketSpec.ofRate(Rate.perMinute(60)), NOW);
  }

  /** Refusals of handshakes because of the tenant's rate, the last of them at {@link #NOW}. */
  public static RefusalCounts refusals(long number) {
    return new RefusalCounts(
        Map.of(Refusal.TENANT_RATE, number), Map.of(), NOW, Optional.empty(), Optional.empty());
  }

  /** A unique session id. */
  public static SessionId sessionId() {
    return SessionId.random(RANDOM);
  }

  /** A session without connections that ends {@code life} after {@link #NOW}. */
  public static Session session(TenantId tenant, Duration life) {
    return new Session(
        tenant,
        sessionId(),
        Set.of(),
        Instant.ofEpochSecond(NOW.getEpochSecond()).plus(life),
        Optional.empty());
  }

  /** A line with another number of spare tokens. */
  public static Line withSpare(Line line, long spare) {
    return new Line(
        line.epoch(),
        line.issued(),
        line.anchor(),
        line.at(),
        line.from(),
        line.rate(),
        line.before(),
        spare,
        line.spareTakenAt(),
        line.freed());
  }
}

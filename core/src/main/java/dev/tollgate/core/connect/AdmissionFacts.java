package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Tenant;
import java.time.Instant;
import java.util.Optional;

/**
 * The rows that an admission depends on.
 *
 * @param tenant the tenant, if it exists
 * @param session the session, if it exists
 * @param connections the tenant's count of open connections
 * @param bucket the tenant's {@code connect} bucket, if it exists
 */
public record AdmissionFacts(
    Optional<Tenant> tenant, Optional<Session> session, long connections, Optional<Bucket> bucket) {

  /**
   * When a retry can succeed, if the bucket is known to be empty at {@code now} or was never
   * filled; else empty.
   */
  public Optional<Instant> retryAt(Instant now) {
    boolean hasNone = filled().isEmpty() || filled().get().isKnownEmptyAt(now);
    return hasNone ? Optional.of(nextTokenAt(now)) : Optional.empty();
  }

  /**
   * When the bucket gets its next token, if it is empty at {@code now}; a minute from now if it was
   * never filled.
   */
  public Instant nextTokenAt(Instant now) {
    return filled().map(read -> read.nextTokenAt(now)).orElseGet(() -> now.plusSeconds(60));
  }

  private Optional<Bucket> filled() {
    return bucket.filter(Bucket::hasBeenFilled);
  }
}

package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
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
   * When a retry can succeed, if the session must wait in line, the bucket is known to be empty at
   * {@code now}, or it was never filled; else empty.
   */
  public Optional<Instant> retryAt(Instant now) {
    if (liveLine(now).isPresent()) {
      return slot(now).or(() -> filled().flatMap(read -> read.at(now).emptyUntil()));
    }
    boolean hasNone = filled().isEmpty() || filled().get().at(now).isKnownEmpty();
    return hasNone ? Optional.of(nextTokenAt(now)) : Optional.empty();
  }

  /**
   * When the session's turn in line comes, or, if it need not wait in line, when the bucket gets
   * its next token if it is empty at {@code now}; a minute from now if it was never filled.
   */
  public Instant nextTokenAt(Instant now) {
    return slot(now).orElseGet(() -> nextTokenWithoutLine(now));
  }

  private Instant nextTokenWithoutLine(Instant now) {
    return filled().map(read -> read.at(now).nextToken()).orElseGet(() -> now.plusSeconds(60));
  }

  /**
   * How many sessions wait in line before this one at {@code now}; empty if it need not wait. A
   * session that has no place yet would be the last.
   */
  public Optional<Long> ahead(Instant now) {
    return slot(now).flatMap(slot -> liveLine(now)).map(line -> line.ahead(place(line, now), now));
  }

  private Optional<Line> liveLine(Instant now) {
    return filled().flatMap(read -> read.at(now).line());
  }

  /**
   * The slot of the session's place in line, or of the place that it would get; empty if it need
   * not wait in line at {@code now}.
   */
  private Optional<Instant> slot(Instant now) {
    return liveLine(now)
        .filter(line -> line.spare() == 0)
        .map(line -> line.slot(place(line, now).number()))
        .filter(now::isBefore);
  }

  private Place place(Line line, Instant now) {
    return session
        .flatMap(Session::place)
        .filter(held -> filled().orElseThrow().at(now).standing(held) != Line.Standing.VOID)
        .orElseGet(() -> line.extended().last());
  }

  private Optional<Bucket> filled() {
    return bucket.filter(Bucket::hasBeenWritten);
  }
}

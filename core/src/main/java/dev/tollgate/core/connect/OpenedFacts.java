package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;

/**
 * The rows that an admission to an attached API depends on. A session that does not exist counts as
 * one without connections, because the connection will open it. Its lifetime is unbounded: {@code
 * sessionTTL} and {@code sessionLifetime} do not apply. The bucket has no line: a refused client
 * has no session in which it could keep a place.
 */
public final class OpenedFacts implements AdmissionFactsReader {
  private final AdmissionFactsReader rows;
  private final InstantSource clock;

  /** Facts from the rows that {@code rows} reads. */
  public OpenedFacts(AdmissionFactsReader rows, InstantSource clock) {
    this.rows = rows;
    this.clock = clock;
  }

  @Override
  public boolean tenantExists(TenantId tenant) {
    return rows.tenantExists(tenant);
  }

  @Override
  public AdmissionFacts read(TenantId tenant, SessionId session) {
    AdmissionFacts read = rows.read(tenant, session);
    Instant now = clock.instant();
    Session open =
        read.session()
            .filter(row -> !OpenedSessions.isOver(row, now))
            .map(
                row -> new Session(tenant, session, row.connections(), row.endsAt(), row.arrival()))
            .orElseGet(
                () ->
                    new Session(
                        tenant,
                        session,
                        Set.of(),
                        now.plus(OpenedSessions.LASTS),
                        Optional.empty()));
    return new AdmissionFacts(
        read.tenant(),
        Optional.of(open),
        read.connections(),
        read.bucket().map(Bucket::withoutLine));
  }
}

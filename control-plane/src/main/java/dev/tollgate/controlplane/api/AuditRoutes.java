package dev.tollgate.controlplane.api;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditSpan;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.Response;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Answers the requests for the audit. */
final class AuditRoutes {
  private static final Duration WEEK = Duration.ofDays(7);

  private final AuditLog audit;
  private final InstantSource clock;

  AuditRoutes(AuditLog audit, InstantSource clock) {
    this.audit = audit;
    this.clock = clock;
  }

  /**
   * Lists the changes of a tenant or of a tier, or all changes. Unreadable rows are skipped and
   * logged.
   */
  Response list(ApiRequest request) {
    Optional<Subject> subject = subject(request);
    Instant to = request.instant("to").orElseGet(clock::instant);
    AuditSpan span =
        request
            .instant("from")
            .map(from -> new AuditSpan(from, to))
            .orElseGet(() -> AuditSpan.before(to, WEEK));
    // The end of a request without one moves, so it does not bind the cursor.
    String listing = "audit?subject=" + subject.map(Subject::value).orElse("");
    Optional<String> cursor = request.cursor(listing);
    Page<AuditEntry> page =
        subject
            .map(of -> audit.of(of, span, cursor, request.limit()))
            .orElseGet(() -> audit.all(span, cursor, request.limit()));
    page.unreadable().forEach(row -> request.invocation().log(row.reason()));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("from", span.from().toString());
    document.put("to", span.to().toString());
    document.put("entries", page.items().stream().map(AuditRoutes::document).toList());
    page.next().ifPresent(next -> document.put("next", Cursor.encode(listing, next)));
    return Response.json(200, document);
  }

  private static Optional<Subject> subject(ApiRequest request) {
    Optional<TenantId> tenant = request.http().query("tenantId").map(TenantId::new);
    Optional<TierName> tier = request.http().query("tier").map(TierName::new);
    InvalidValue.unless(
        tenant.isEmpty() || tier.isEmpty(),
        "tier",
        tier.map(TierName::value).orElse(""),
        "no tier beside a tenantId");
    return tenant.map(Subject::tenant).or(() -> tier.map(Subject::tier));
  }

  private static Map<String, Object> document(AuditEntry entry) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("id", entry.id());
    document.put("at", entry.at().toString());
    document.put("subject", entry.subject().value());
    document.put("what", entry.what().label());
    document.put("by", entry.author().who());
    document.put("request", entry.author().request());
    document.put("from", entry.from());
    document.put("to", entry.to());
    return document;
  }
}

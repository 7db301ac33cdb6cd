package dev.tollgate.controlplane.api;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.SessionReference;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answers the requests for a tenant's sessions. No answer has a session's id, which is a secret.
 */
final class SessionRoutes {
  private final Tenants tenants;
  private final Sessions sessions;
  private final SessionLifecycle lifecycle;
  private final AuditNotes notes;
  private final InstantSource clock;

  SessionRoutes(
      Tenants tenants,
      Sessions sessions,
      SessionLifecycle lifecycle,
      AuditNotes notes,
      InstantSource clock) {
    this.tenants = tenants;
    this.sessions = sessions;
    this.lifecycle = lifecycle;
    this.notes = notes;
    this.clock = clock;
  }

  /**
   * Lists a tenant's sessions that have not ended, by one query for a page. Unreadable rows are
   * skipped and logged.
   */
  Response list(ApiRequest request) {
    TenantId id = request.tenantId();
    String listing = "sessions?tenant=" + id;
    Optional<String> cursor = request.cursor(listing);
    int limit = request.limit();
    if (tenants.find(id).isEmpty()) {
      return TenantRoutes.notFound(id);
    }
    Page<Session> page =
        SessionReference.page(sessions, id, cursor, limit, Sessions.Consistency.EVENTUAL);
    page.unreadable().forEach(row -> request.invocation().log(row.reason()));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put(
        "sessions",
        page.items().stream()
            .filter(session -> !session.hasEndedAt(clock.instant()))
            .map(SessionRoutes::document)
            .toList());
    page.next().ifPresent(next -> document.put("next", Cursor.encode(listing, next)));
    return Response.json(200, document);
  }

  private static Map<String, Object> document(Session session) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("session", SessionReference.of(session.id()).value());
    document.put("connections", session.connections().size());
    session.lifetime().createdAt().ifPresent(at -> document.put("createdAt", at.toString()));
    session.messageAt().ifPresent(at -> document.put("messageAt", at.toString()));
    document.put("endsAt", session.endsAt().toString());
    return document;
  }

  /** Ends a session. The audit has an entry first, so no session is ended without one. */
  Response end(ApiRequest request) {
    request.requireNoDryRun();
    TenantId id = request.tenantId();
    SessionReference reference = new SessionReference(request.http().path("session"));
    if (tenants.find(id).isEmpty()) {
      return TenantRoutes.notFound(id);
    }
    List<Session> found =
        reference.find(sessions, id, 2).stream()
            .filter(session -> !session.hasEndedAt(clock.instant()))
            .toList();
    if (found.size() > 1) {
      return Problem.conflict(
              "Two sessions of "
                  + id
                  + " begin with "
                  + reference
                  + ", so none was ended. Repeat the request when one has expired.")
          .response();
    }
    if (found.isEmpty()) {
      return Response.noContent();
    }
    notes.note(id, ChangeType.SESSION_ENDED, Map.of("session", reference.value()));
    lifecycle.end(id, found.get(0).id());
    return Response.noContent();
  }
}

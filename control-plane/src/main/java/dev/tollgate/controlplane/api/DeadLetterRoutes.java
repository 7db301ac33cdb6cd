package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.message.DeadLetter;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Answers the requests for dead letters. */
final class DeadLetterRoutes {
  /** The most that an answer shows. */
  private static final int SHOWN = 10;

  /** The most characters of a body that an answer shows. */
  private static final int MAX_BODY = 300;

  private final Tenants tenants;
  private final DeadLetters letters;
  private final AuditNotes notes;

  DeadLetterRoutes(Tenants tenants, DeadLetters letters, AuditNotes notes) {
    this.tenants = tenants;
    this.letters = letters;
    this.notes = notes;
  }

  /** Shows the first dead letters of a tenant. */
  Response list(ApiRequest request) {
    TenantId id = request.tenantId();
    Optional<Tenant> tenant = tenants.find(id);
    if (tenant.isEmpty()) {
      return TenantRoutes.notFound(id);
    }
    DeadLetters.Found found = letters.find(search(request, tenant.get()));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put(
        "deadLetters",
        found.letters().stream().limit(SHOWN).map(DeadLetterRoutes::document).toList());
    document.put("count", found.letters().size());
    document.put("complete", found.complete());
    return Response.json(200, document);
  }

  /** A search that takes half of the time, because giving the messages back may take as long. */
  private static DeadLetters.Search search(ApiRequest request, Tenant tenant) {
    Invocation half = request.invocation().part(2);
    return new DeadLetters.Search(
        tenant.id(), tenant.onboardedAt().orElse(Instant.EPOCH), () -> !half.isOver());
  }

  private static Map<String, Object> document(DeadLetter letter) {
    String body = letter.body();
    boolean isLong = body.codePointCount(0, body.length()) > MAX_BODY;
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("id", letter.id());
    letter.session().ifPresent(session -> document.put("session", session.value()));
    document.put("at", letter.at().toString());
    document.put("receives", letter.receives());
    // Not between the two halves of a character.
    document.put("body", isLong ? body.substring(0, body.offsetByCodePoints(0, MAX_BODY)) : body);
    document.put("truncated", isLong);
    document.put("queue", letter.source().name());
    return document;
  }

  /** Moves dead letters back. The audit has an entry first, so none is moved without one. */
  Response redrive(ApiRequest request) {
    request.requireNoDryRun();
    TenantId id = request.tenantId();
    int limit = request.limit();
    if (request.http().content().length > 0) {
      request.body().only();
    }
    Optional<Tenant> tenant = tenants.find(id);
    if (tenant.isEmpty()) {
      return TenantRoutes.notFound(id);
    }
    TenantStatus status = tenant.get().status();
    if (status != TenantStatus.ACTIVE) {
      return Problem.conflict(
              id
                  + " is "
                  + status
                  + ". Only messages of an active tenant are processed. Its dead letters stay.")
          .response();
    }
    notes.note(id, ChangeType.DEAD_LETTERS_REDRIVEN, Map.of("limit", Integer.toString(limit)));
    DeadLetters.Redriven redriven = letters.redrive(search(request, tenant.get()), limit);
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("moved", redriven.moved());
    document.put("complete", redriven.complete());
    return Response.json(200, document);
  }
}

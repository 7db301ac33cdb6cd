package dev.tollgate.handlers.session;

import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.connect.AdmissionRules;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.http.Response;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Renders sessions as the JSON documents that clients receive. */
final class SessionDocument {
  private SessionDocument() {}

  /** A session that was created or renewed. */
  static Map<String, Object> granted(Tenant tenant, Session session, String webSocketUrl) {
    Map<String, Object> document = common(tenant, session);
    document.put("webSocketUrl", webSocketUrl);
    return document;
  }

  /**
   * A session with its limits, its open connections, and whether a new connection would be admitted
   * now. While limits are lifted, no limit refuses it, so that clients that wait try again.
   */
  static Response current(
      Tenant tenant, Session session, AdmissionFacts facts, Enforcement enforcement, Instant now) {
    Map<String, Object> limits = new LinkedHashMap<>();
    for (Limit limit : Limit.values()) {
      limits.put(limit.key(), tenant.limits().get(limit));
    }
    Optional<AdmissionDecision.Refused> refused =
        refusal(facts, now)
            .filter(each -> each.refusal().limit().isEmpty() || enforcement.lifted().isEmpty());
    Map<String, Object> document = common(tenant, session);
    document.put("limits", limits);
    document.put("connections", session.connections().size());
    document.put("tenantConnections", facts.connections());
    document.put("admission", admission(refused, facts, now));
    Response response =
        RateLimitFields.with(
            Response.json(200, document), RateLimitFields.enforced(tenant, session, facts, now));
    return refused
        .flatMap(AdmissionDecision.Refused::retryAt)
        .map(at -> response.with("retry-after", RateLimitFields.seconds(now, at)))
        .orElse(response);
  }

  private static Map<String, Object> common(Tenant tenant, Session session) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", tenant.id().value());
    document.put("sessionId", session.id().value());
    document.put("expiresAt", session.endsAt().toString());
    session.latestEnd(tenant.limits()).ifPresent(end -> document.put("lastsUntil", end.toString()));
    return document;
  }

  private static Optional<AdmissionDecision.Refused> refusal(AdmissionFacts facts, Instant now) {
    boolean isRateEnforced =
        facts.tenant().orElseThrow().limits().mode(Limit.TENANT_PER_MINUTE) == LimitMode.ENFORCE;
    return AdmissionRules.refusal(facts, now)
        .or(
            () ->
                facts
                    .retryAt(now)
                    .filter(any -> isRateEnforced)
                    .map(
                        at -> new AdmissionDecision.Refused(Refusal.TENANT_RATE, Optional.of(at))));
  }

  private static Map<String, Object> admission(
      Optional<AdmissionDecision.Refused> refused, AdmissionFacts facts, Instant now) {
    Map<String, Object> admission = new LinkedHashMap<>();
    admission.put("admitted", refused.isEmpty());
    refused.ifPresent(
        refusal -> {
          admission.put("reason", refusal.refusal().name());
          admission.put("detail", refusal.refusal().detail());
          if (refusal.refusal() == Refusal.TENANT_RATE) {
            facts.ahead(now).ifPresent(ahead -> admission.put("ahead", ahead));
          }
          refusal
              .retryAt()
              .ifPresent(
                  at -> {
                    admission.put(
                        "retryAfterSeconds", Long.parseLong(RateLimitFields.seconds(now, at)));
                    admission.put("nextAttemptAt", at.toString());
                  });
        });
    return admission;
  }
}

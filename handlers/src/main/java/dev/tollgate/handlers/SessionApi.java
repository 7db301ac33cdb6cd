package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.session.Caller;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Request;
import dev.tollgate.http.Response;
import dev.tollgate.http.Routes;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The HTTP API by which clients create, renew, look at and end sessions. It is also where a refused
 * client learns when to come back, since a browser cannot read why its handshake was refused.
 */
public final class SessionApi
    implements RequestHandler<APIGatewayV2HTTPEvent, APIGatewayV2HTTPResponse> {
  /** Tenants in an answer. A stranger may ask for them, and each is a whole row that is read. */
  private static final int PAGE = 25;

  /** Digits before the decimal point of a time in seconds that is worth reading. */
  private static final int MOST_DIGITS = 12;

  private static final String ALL_TENANTS = "tenant";

  private final Tenants tenants;
  private final AdmissionFactsReader facts;
  private final SessionLifecycle sessions;
  private final String webSocketUrl;
  private final InstantSource clock;
  private final Routes routes;

  /** The function as Lambda makes it. */
  public SessionApi() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public SessionApi(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), clock);
  }

  private SessionApi(Wiring wiring, InstantSource clock) {
    this(
        wiring.tenants(),
        wiring.facts(),
        wiring.sessionLife(),
        wiring.webSocketUrl(),
        wiring.listsTenants(),
        wiring.tenantClaim(),
        clock);
  }

  /**
   * The function of these parts.
   *
   * @param webSocketUrl where sockets are opened
   * @param listsTenants whether it tells all tenants' ids
   * @param tenantClaim the claim of a caller's token that names the tenant whose sessions he may
   *     have; empty where sessions need no token
   */
  SessionApi(
      Tenants tenants,
      AdmissionFactsReader facts,
      SessionLifecycle sessions,
      String webSocketUrl,
      boolean listsTenants,
      Optional<String> tenantClaim,
      InstantSource clock) {
    this.tenants = tenants;
    this.facts = facts;
    this.sessions = sessions;
    this.webSocketUrl = webSocketUrl;
    this.clock = clock;
    Map<String, Routes.Route> byKey = new LinkedHashMap<>();
    Routes.Route put =
        tenantClaim.isPresent() ? this::putForSubject : request -> put(request, Optional.empty());
    byKey.put("PUT /session", ofTheCallersTenant(tenantClaim, put));
    byKey.put("GET /session", ofTheCallersTenant(tenantClaim, this::show));
    byKey.put("DELETE /session", ofTheCallersTenant(tenantClaim, this::end));
    if (listsTenants) {
      byKey.put("GET /tenant", this::list);
    }
    this.routes = Routes.forAnybody(byKey);
  }

  Routes routes() {
    return routes;
  }

  @Override
  public APIGatewayV2HTTPResponse handleRequest(APIGatewayV2HTTPEvent event, Context context) {
    return routes.answer(event, context);
  }

  /**
   * A route that answers only whom the token names the tenant to, and asks nothing of anybody for
   * others. A request that came without a token gets nothing either, whoever let it through.
   */
  private static Routes.Route ofTheCallersTenant(Optional<String> tenantClaim, Routes.Route route) {
    return tenantClaim
        .<Routes.Route>map(
            claim ->
                request -> {
                  TenantId asked = tenantId(request);
                  return request.claim(claim).filter(asked.value()::equals).isPresent()
                      ? route.answer(request)
                      : notYours(asked, claim);
                })
        .orElse(route);
  }

  /**
   * Creates or renews a session for the subject of the request's token. A token without a subject
   * is refused: its holder could have any number of sessions.
   */
  private Response putForSubject(Request request) {
    Optional<Subject> subject =
        request
            .claim("sub")
            .filter(sub -> !sub.isBlank())
            .map(sub -> Subject.of(tenantId(request), sub));
    Optional<Instant> end =
        request.claim("exp").flatMap(SessionApi::seconds).filter(clock.instant()::isBefore);
    if (subject.isEmpty()) {
      return unusable("claim sub: missing (expected: the token's holder, who has limits)");
    }
    return end.isEmpty()
        ? unusable("claim exp: missing or over (expected: when the token, and its sessions, end)")
        : put(request, Optional.of(new Caller(subject.get(), end.get())));
  }

  /** Seconds since 1970, as RFC 7519 has them: a number in any notation, maybe with decimals. */
  private static Optional<Instant> seconds(String number) {
    try {
      BigDecimal seconds = new BigDecimal(number);
      return seconds.precision() - (long) seconds.scale() > MOST_DIGITS
          ? Optional.empty()
          : Optional.of(Instant.ofEpochSecond(seconds.longValue()));
    } catch (NumberFormatException malformed) {
      return Optional.empty();
    }
  }

  private static Response unusable(String detail) {
    return Problem.of("unusable-token", 403, "The token is not fit for sessions", detail)
        .response();
  }

  /** Creates a session, or renews the one that the request names. */
  private Response put(Request request, Optional<Caller> caller) {
    TenantId id = tenantId(request);
    Optional<SessionId> named = request.query(TicketContext.SESSION).map(SessionId::new);
    // The same as in the other routes: that a name is made up is remembered, and costs no more.
    if (!facts.tenantExists(id)) {
      return noTenant(id);
    }
    Optional<Tenant> tenant = tenants.find(id);
    if (tenant.isEmpty()) {
      return noTenant(id);
    }
    if (tenant.get().status() != TenantStatus.ACTIVE) {
      return Problem.of("suspended", 403, "The tenant is not served", Refusal.SUSPENDED.detail())
          .response();
    }
    return named
        .map(session -> renew(tenant.get(), session, caller))
        .orElseGet(() -> create(tenant.get(), caller));
  }

  private Response renew(Tenant tenant, SessionId session, Optional<Caller> caller) {
    return sessions.renew(tenant, session, caller) instanceof SessionLifecycle.Renewed renewed
        ? Response.json(200, document(tenant, renewed.session()))
        : noSession(tenant.id());
  }

  private Response create(Tenant tenant, Optional<Caller> caller) {
    SessionLifecycle.OpenResult opening = sessions.open(tenant, caller);
    if (opening instanceof SessionLifecycle.SubjectTooFast tooFast) {
      return Problem.of(
              "subject-quota-exceeded",
              429,
              "Too many sessions of one subject",
              "the token's subject creates sessions of tenant "
                  + tenant.id()
                  + " faster than twice its sessionsPerSubject in a minute, or than half of"
                  + " what the tenant may")
          .response()
          .with("retry-after", RateLimitFields.seconds(clock.instant(), tooFast.retryAt()));
    }
    if (opening instanceof SessionLifecycle.SubjectFull full) {
      return Problem.of(
              "subject-quota-exceeded",
              429,
              "Too many sessions of one subject",
              "the token's subject has as many sessions of tenant "
                  + tenant.id()
                  + " as sessionsPerSubject allows, which is "
                  + tenant.limits().get(Limit.SESSIONS_PER_SUBJECT)
                  + "; end one with DELETE /session, or wait until one is over")
          .response()
          .with("retry-after", RateLimitFields.seconds(clock.instant(), full.retryAt()));
    }
    if (opening instanceof SessionLifecycle.TenantTooFast tooMany) {
      return Problem.of(
              "quota-exceeded",
              429,
              "Too many sessions",
              "tenant " + tenant.id() + " opens sessions faster than ten times its tenantPerMinute")
          .response()
          .with("retry-after", RateLimitFields.seconds(clock.instant(), tooMany.retryAt()));
    }
    return Response.json(201, document(tenant, ((SessionLifecycle.Opened) opening).session()));
  }

  private Map<String, Object> document(Tenant tenant, Session session) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", tenant.id().value());
    document.put("sessionId", session.id().value());
    document.put("expiresAt", session.endsAt().toString());
    session.latestEnd(tenant.limits()).ifPresent(end -> document.put("lastsUntil", end.toString()));
    document.put("webSocketUrl", webSocketUrl);
    return document;
  }

  private Response show(Request request) {
    TenantId id = tenantId(request);
    SessionId sessionId = sessionId(request);
    if (!facts.tenantExists(id)) {
      return noTenant(id);
    }
    Instant now = clock.instant();
    AdmissionFacts read = facts.read(id, sessionId);
    Optional<Session> session = read.session().filter(found -> !found.hasEndedAt(now));
    if (read.tenant().isEmpty()) {
      return noTenant(id);
    }
    return session.isEmpty()
        ? noSession(id)
        : SessionDocument.of(read.tenant().get(), session.get(), read, now);
  }

  private Response end(Request request) {
    TenantId id = tenantId(request);
    SessionId session = sessionId(request);
    if (!facts.tenantExists(id)) {
      return noTenant(id);
    }
    return !(sessions.end(id, session) instanceof SessionLifecycle.NoSession)
        ? Response.noContent()
        : noSession(id);
  }

  private Response list(Request request) {
    Optional<String> end = request.query("cursor").map(cursor -> Cursor.end(ALL_TENANTS, cursor));
    Page<Tenant> page = tenants.list(end, PAGE);
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenants", page.items().stream().map(tenant -> tenant.id().value()).toList());
    page.next().ifPresent(next -> document.put("next", Cursor.of(ALL_TENANTS, next)));
    return Response.json(200, document);
  }

  private static TenantId tenantId(Request request) {
    return new TenantId(request.query(TicketContext.TENANT).orElse(""));
  }

  private static SessionId sessionId(Request request) {
    return new SessionId(request.query(TicketContext.SESSION).orElse(""));
  }

  /** Tells nothing of what is in the token, nor whether there is such a tenant. */
  private static Response notYours(TenantId asked, String claim) {
    return Problem.of(
            "not-your-tenant",
            403,
            "The token is of another tenant, or of none",
            "tenantId: "
                + asked
                + " (expected: the tenant that claim "
                + claim
                + " of the token names)")
        .response();
  }

  private static Response noTenant(TenantId id) {
    return Problem.notFound("tenantId: " + id + " (expected: a tenant that was onboarded)")
        .response();
  }

  /** Does not repeat the session's id, which is a secret. */
  private static Response noSession(TenantId id) {
    return Problem.notFound("sessionId: no such session of tenant " + id + ", or it is over")
        .response();
  }
}

package dev.tollgate.handlers.session;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.FreedPlaces;
import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.session.Caller;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.InvocationTrace;
import dev.tollgate.handlers.Wiring;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.Request;
import dev.tollgate.http.Response;
import dev.tollgate.http.Routes;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The HTTP API by which clients create, renew, read and end sessions. It also returns when a
 * refused client can retry, because a browser hides the reason of a failed WebSocket handshake.
 */
public final class SessionApi
    implements RequestHandler<APIGatewayV2HTTPEvent, APIGatewayV2HTTPResponse> {
  /**
   * Tenants in one response. The page is small because any caller may request it, and each tenant
   * costs the read of a whole row.
   */
  private static final int PAGE = 25;

  private static final String TENANT_ID = "tenantId";
  private static final String SESSION_ID = "sessionId";
  private static final String TENANT_LISTING = "tenant";

  private final Tenants tenants;
  private final AdmissionFactsReader facts;
  private final SessionLifecycle sessions;
  private final FreedPlaces places;
  private final Enforcement enforcement;
  private final SessionSettings settings;
  private final Tracing tracing;
  private final InstantSource clock;
  private final Routes routes;

  /** The function as Lambda creates it. */
  public SessionApi() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public SessionApi(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), SessionSettings.of(environment), clock);
  }

  private SessionApi(Wiring wiring, SessionSettings settings, InstantSource clock) {
    this(
        wiring.tenants(),
        wiring.facts(),
        wiring.sessionLifecycle(),
        wiring.freedPlaces(),
        wiring.enforcement(),
        settings,
        wiring.tracing(),
        clock);
  }

  SessionApi(
      Tenants tenants,
      AdmissionFactsReader facts,
      SessionLifecycle sessions,
      FreedPlaces places,
      Enforcement enforcement,
      SessionSettings settings,
      Tracing tracing,
      InstantSource clock) {
    this.tenants = tenants;
    this.facts = facts;
    this.sessions = sessions;
    this.places = places;
    this.enforcement = enforcement;
    this.settings = settings;
    this.tracing = tracing;
    this.clock = clock;
    Routes.Route put =
        settings.tenantClaim().isPresent()
            ? this::putForSubject
            : request -> put(request, Optional.empty());
    Map<String, Routes.Route> byKey = new LinkedHashMap<>();
    byKey.put("PUT /session", onlyForOwnTenant(put));
    byKey.put("GET /session", onlyForOwnTenant(this::show));
    byKey.put("DELETE /session", onlyForOwnTenant(this::end));
    if (settings.listsTenants()) {
      byKey.put("GET /tenant", this::list);
    }
    this.routes = Routes.forClients(byKey);
  }

  Routes routes() {
    return routes;
  }

  @Override
  public APIGatewayV2HTTPResponse handleRequest(APIGatewayV2HTTPEvent event, Context context) {
    try (Segment segment = tracing.begin("SessionApi", () -> InvocationTrace.header(context))) {
      APIGatewayV2HTTPResponse response = routes.answer(event, context);
      segment.outcome(Integer.toString(response.getStatusCode()), response.getStatusCode());
      return response;
    }
  }

  /**
   * Limits a route to callers whose token names the requested tenant, if the deployment requires
   * tokens. A refused request reads no row. A request without a token is refused, too: this check
   * does not rely on the gateway's authorizer.
   */
  private Routes.Route onlyForOwnTenant(Routes.Route route) {
    return settings
        .tenantClaim()
        .<Routes.Route>map(
            claim ->
                request -> {
                  TenantId requested = tenantId(request);
                  return TokenClaims.nameTenant(requested, claim, request)
                      ? route.answer(request)
                      : SessionProblems.notYourTenant(requested, claim);
                })
        .orElse(route);
  }

  /**
   * Creates or renews a session for the subject of the request's token. A token without a subject
   * is refused, because the limits per subject cannot apply to it.
   */
  private Response putForSubject(Request request) {
    Optional<Subject> subject = TokenClaims.subject(tenantId(request), request);
    Optional<Instant> expiry = TokenClaims.expiry(request).filter(clock.instant()::isBefore);
    if (subject.isEmpty()) {
      return SessionProblems.noSubject();
    }
    return expiry.isEmpty()
        ? SessionProblems.noExpiry()
        : put(request, Optional.of(new Caller(subject.get(), expiry.get())));
  }

  /** Creates a session, or renews the one that the request names. */
  private Response put(Request request, Optional<Caller> caller) {
    TenantId id = tenantId(request);
    Optional<SessionId> named = request.query(SESSION_ID).map(SessionId::new);
    // The reader remembers unknown ids, so that repeated requests for them cost no reads.
    if (!facts.tenantExists(id)) {
      return SessionProblems.noTenant(id);
    }
    Optional<Tenant> tenant = tenants.find(id);
    if (tenant.isEmpty()) {
      return SessionProblems.noTenant(id);
    }
    if (tenant.get().status() != TenantStatus.ACTIVE) {
      return SessionProblems.suspended();
    }
    return named
        .map(session -> renew(tenant.get(), session, caller))
        .orElseGet(() -> create(tenant.get(), caller));
  }

  private Response renew(Tenant tenant, SessionId session, Optional<Caller> caller) {
    return sessions.renew(tenant, session, caller) instanceof SessionLifecycle.Renewed renewed
        ? Response.json(200, document(tenant, renewed.session()))
        : SessionProblems.noSession(tenant.id());
  }

  private Response create(Tenant tenant, Optional<Caller> caller) {
    SessionLifecycle.OpenResult opening = sessions.open(tenant, caller, enforcement);
    if (opening instanceof SessionLifecycle.SubjectTooFast tooFast) {
      return SessionProblems.subjectTooFast(tenant, clock.instant(), tooFast.retryAt());
    }
    if (opening instanceof SessionLifecycle.SubjectFull full) {
      return SessionProblems.subjectFull(tenant, clock.instant(), full.retryAt());
    }
    if (opening instanceof SessionLifecycle.TenantTooFast tooMany) {
      return SessionProblems.tenantTooFast(tenant, clock.instant(), tooMany.retryAt());
    }
    return Response.json(201, document(tenant, ((SessionLifecycle.Opened) opening).session()));
  }

  private Map<String, Object> document(Tenant tenant, Session session) {
    return SessionDocument.granted(tenant, session, settings.webSocketUrl());
  }

  private Response show(Request request) {
    TenantId id = tenantId(request);
    SessionId sessionId = sessionId(request);
    if (!facts.tenantExists(id)) {
      return SessionProblems.noTenant(id);
    }
    Instant now = clock.instant();
    AdmissionFacts read = facts.read(id, sessionId);
    Optional<Session> session = read.session().filter(found -> !found.hasEndedAt(now));
    if (read.tenant().isEmpty()) {
      return SessionProblems.noTenant(id);
    }
    return session.isEmpty()
        ? SessionProblems.noSession(id)
        : SessionDocument.current(read.tenant().get(), session.get(), read, enforcement, now);
  }

  private Response end(Request request) {
    TenantId id = tenantId(request);
    SessionId session = sessionId(request);
    if (!facts.tenantExists(id)) {
      return SessionProblems.noTenant(id);
    }
    SessionLifecycle.EndResult result =
        sessions.end(id, session, place -> places.free(new BucketId(id, Action.CONNECT), place));
    return result instanceof SessionLifecycle.NoSession
        ? SessionProblems.noSession(id)
        : Response.noContent();
  }

  private Response list(Request request) {
    Optional<String> after =
        request.query("cursor").map(cursor -> Cursor.decode(TENANT_LISTING, cursor));
    Page<Tenant> page = tenants.list(after, PAGE);
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenants", page.items().stream().map(tenant -> tenant.id().value()).toList());
    page.next().ifPresent(next -> document.put("next", Cursor.encode(TENANT_LISTING, next)));
    return Response.json(200, document);
  }

  private static TenantId tenantId(Request request) {
    return new TenantId(request.query(TENANT_ID).orElse(""));
  }

  private static SessionId sessionId(Request request) {
    return new SessionId(request.query(SESSION_ID).orElse(""));
  }
}

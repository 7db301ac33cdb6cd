package dev.tollgate.controlplane;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.JsonFields;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Request;
import dev.tollgate.http.Response;
import dev.tollgate.http.Routes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The function behind the control plane's HTTP API: tenants and tiers. */
public final class ControlPlaneApi
    implements RequestHandler<APIGatewayV2HTTPEvent, APIGatewayV2HTTPResponse> {
  /** Nothing is begun when less than this is left: a slow step may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(8);

  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,4}");
  private static final int MOST_LISTED = 100;
  private static final String TENANT_ID = "the id of the tenant, [a-z0-9][a-z0-9-]{0,35}";
  private static final String TIER = "the name of a tier";

  private final ControlPlane controlPlane;
  private final TenantReport report;
  private final Routes routes;

  /** The API as AWS Lambda makes it. */
  public ControlPlaneApi() {
    this(System.getenv(), InstantSource.system());
  }

  /** An API with these environment variables and this clock. */
  public ControlPlaneApi(Map<String, String> environment, InstantSource clock) {
    this(Wiring.controlPlane(environment, clock));
  }

  ControlPlaneApi(ControlPlane controlPlane) {
    this.controlPlane = controlPlane;
    this.report = new TenantReport(controlPlane.ports(), controlPlane.clock());
    this.routes =
        new Routes(
            Map.of(
                "POST /tenants", this::onboard,
                "GET /tenants", this::listTenants,
                "GET /tenants/{tenantId}", this::showTenant,
                "PATCH /tenants/{tenantId}", this::changeTenant,
                "DELETE /tenants/{tenantId}", this::offboard,
                "GET /tiers", this::listTiers,
                "GET /tiers/{tier}", this::showTier,
                "PUT /tiers/{tier}", this::putTier,
                "DELETE /tiers/{tier}", this::removeTier));
  }

  @Override
  public APIGatewayV2HTTPResponse handleRequest(APIGatewayV2HTTPEvent event, Context context) {
    return routes.answer(event, context);
  }

  private Response onboard(Request request) {
    JsonFields body = request.body().only("tenantId", "tier", "overrides");
    TenantId id = new TenantId(body.text("tenantId", TENANT_ID));
    TierName tier = new TierName(body.text("tier", TIER));
    Invocation invocation = invocation(request);
    return answer(
        controlPlane
            .lifecycle()
            .onboard(id, tier, Documents.overrides(body).orElse(Map.of()), invocation),
        id,
        invocation);
  }

  private Response changeTenant(Request request) {
    TenantId id = tenantId(request);
    JsonFields body = request.body().only("tier", "overrides", "status");
    TenantLifecycle.Change change =
        new TenantLifecycle.Change(
            body.optionalText("tier", TIER).map(TierName::new),
            Documents.overrides(body),
            body.optionalOneOf("status", List.of(TenantStatus.ACTIVE, TenantStatus.SUSPENDED)));
    Invocation invocation = invocation(request);
    return answer(controlPlane.lifecycle().change(id, change, invocation), id, invocation);
  }

  private Response offboard(Request request) {
    TenantId id = tenantId(request);
    Invocation invocation = invocation(request);
    TenantAnswer answer = controlPlane.lifecycle().offboard(id, invocation);
    return answer instanceof TenantAnswer.NoTenant
        ? Response.noContent()
        : answer(answer, id, invocation);
  }

  private Response answer(TenantAnswer answer, TenantId id, Invocation invocation) {
    if (answer instanceof TenantAnswer.Onboarded onboarded) {
      return Response.json(201, document(onboarded.tenant(), onboarded.outcome(), invocation))
          .with("location", "/tenants/" + id);
    }
    if (answer instanceof TenantAnswer.Stands stands) {
      return Response.json(200, document(stands.tenant(), stands.outcome(), invocation));
    }
    if (answer instanceof TenantAnswer.Leaving leaving) {
      return Response.json(202, document(leaving.tenant(), leaving.outcome(), invocation));
    }
    if (answer instanceof TenantAnswer.StandsOtherwise otherwise) {
      return Problem.conflict("tenant " + id + ": " + otherwise.reason())
          .with("tenant", Documents.of(otherwise.tenant()))
          .response();
    }
    if (answer instanceof TenantAnswer.NoTier noTier) {
      throw new InvalidValue("tier", noTier.name(), "a tier that there is");
    }
    return noTenant(id);
  }

  private Map<String, Object> document(Tenant tenant, Outcome outcome, Invocation invocation) {
    return report.of(tenant, outcome instanceof Outcome.Settled, invocation);
  }

  private Response showTenant(Request request) {
    TenantId id = tenantId(request);
    Invocation invocation = invocation(request);
    return controlPlane
        .ports()
        .tenants()
        .find(id)
        .map(tenant -> Response.json(200, report.of(tenant, tenant.settled(), invocation)))
        .orElseGet(() -> noTenant(id));
  }

  private Response listTenants(Request request) {
    int most = request.query("limit").map(ControlPlaneApi::limit).orElse(MOST_LISTED);
    Optional<String> cursor = request.query("cursor").map(ControlPlaneApi::decoded);
    Page<Tenant> page = controlPlane.ports().tenants().list(cursor, most);
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenants", page.items().stream().map(Documents::of).toList());
    page.next().ifPresent(next -> document.put("next", encoded(next)));
    return Response.json(200, document);
  }

  private static int limit(String text) {
    InvalidValue.unless(DIGITS.matcher(text).matches(), "limit", text, "1 to " + MOST_LISTED);
    return (int) InvalidValue.inRange("limit", Long.parseLong(text), 1, MOST_LISTED);
  }

  private static String encoded(String cursor) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(cursor.getBytes(StandardCharsets.UTF_8));
  }

  /** What a cursor stands for: the last tenant of the part before. */
  private static String decoded(String cursor) {
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(cursor);
      return new TenantId(new String(bytes, StandardCharsets.UTF_8)).value();
    } catch (IllegalArgumentException malformed) {
      throw new InvalidValue("cursor", cursor, "next of the part before");
    }
  }

  private Response listTiers(Request request) {
    List<Map<String, Object>> tiers =
        controlPlane.ports().tiers().list().stream().map(Documents::of).toList();
    return Response.json(200, Map.of("tiers", tiers));
  }

  private Response showTier(Request request) {
    TierName name = new TierName(request.path("tier"));
    return controlPlane
        .ports()
        .tiers()
        .find(name)
        .map(tier -> Response.json(200, Documents.of(tier)))
        .orElseGet(() -> noTier(name));
  }

  private Response putTier(Request request) {
    TierName name = new TierName(request.path("tier"));
    JsonFields body = request.body();
    Tier tier = Documents.tier(name, body);
    TierAnswer answer =
        controlPlane.catalog().put(tier, Documents.version(body), invocation(request));
    return answer(answer, name);
  }

  private Response removeTier(Request request) {
    TierName name = new TierName(request.path("tier"));
    return answer(controlPlane.catalog().remove(name), name);
  }

  private static Response answer(TierAnswer answer, TierName name) {
    if (answer instanceof TierAnswer.Created created) {
      return Response.json(201, Documents.of(created.tier())).with("location", "/tiers/" + name);
    }
    if (answer instanceof TierAnswer.Stands stands) {
      return Response.json(stands.rolledOut() ? 200 : 202, Documents.of(stands.tier()));
    }
    if (answer instanceof TierAnswer.StandsOtherwise otherwise) {
      return Problem.conflict("tier " + name + ": " + otherwise.reason()).response();
    }
    return answer instanceof TierAnswer.Removed ? Response.noContent() : noTier(name);
  }

  private Invocation invocation(Request request) {
    return Invocation.of(controlPlane.clock(), request.remaining().minus(MARGIN), request::log);
  }

  private static TenantId tenantId(Request request) {
    return new TenantId(request.path("tenantId"));
  }

  private static Response noTenant(TenantId id) {
    return Problem.notFound("no tenant " + id).response();
  }

  private static Response noTier(TierName name) {
    return Problem.notFound("no tier " + name).response();
  }
}

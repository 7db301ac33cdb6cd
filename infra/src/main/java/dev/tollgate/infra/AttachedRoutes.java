package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import software.amazon.awscdk.ArnComponents;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.apigatewayv2.CfnAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.CfnIntegration;
import software.amazon.awscdk.services.apigatewayv2.CfnRoute;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.awscdk.services.lambda.Alias;
import software.amazon.awscdk.services.lambda.CfnPermission;
import software.amazon.awscdk.services.lambda.IFunction;
import software.amazon.awscdk.services.lambda.Permission;
import software.constructs.Construct;

/**
 * The authorizer, and the routes {@code $connect} and {@code $disconnect}, of an attached API.
 *
 * <p>A route that exists is changed and not replaced: CloudFormation creates new resources before
 * it deletes old ones, and API Gateway refuses a second route with the same key.
 */
final class AttachedRoutes extends Construct {
  private static final String CONNECT = "$connect";
  private static final String DISCONNECT = "$disconnect";
  private static final String QUERY = "route.request.querystring.";
  private static final String HEADER = "route.request.header.";
  private static final String NO_AUTHORIZER = "NONE";

  private final AttachedApi attached;
  private final List<CfnPermission> permissions = new ArrayList<>();

  AttachedRoutes(
      Construct scope,
      AttachedApi attached,
      FunctionWithRoles authorizer,
      FunctionWithRoles connect,
      FunctionWithRoles disconnect) {
    super(scope, "Attached");
    this.attached = attached;
    CfnRoute opening = route(CONNECT, attached.connect());
    CfnRoute closing = route(DISCONNECT, attached.disconnect());
    opening.setAuthorizationType("CUSTOM");
    opening.setAuthorizerId(authorizer(authorizer.live()).getRef());
    opening.setTarget("integrations/" + integration("Connect", CONNECT, connect.live()).getRef());
    CfnIntegration last = integration("Disconnect", DISCONNECT, disconnect.live());
    closing.setTarget("integrations/" + last.getRef());
    // Clients may connect as soon as a route is changed: what its functions need comes first. The
    // API takes one change at a time.
    opening.getNode().addDependency(authorizer, connect, disconnect, last);
    permissions.forEach(opening.getNode()::addDependency);
    closing.addResourceDependency(opening);
  }

  /** What a handshake must have. API Gateway answers 401 without invoking the function. */
  private List<String> identitySources() {
    AttachedApi.TenantSource source = attached.tenants();
    if (source instanceof AttachedApi.TenantSource.WebToken token) {
      AttachedApi.TokenPlace place = token.place();
      return List.of(
          place instanceof AttachedApi.TokenPlace.Query query
              ? QUERY + query.parameter()
              : HEADER
                  + (place instanceof AttachedApi.TokenPlace.Authorization
                      ? "Authorization"
                      : "Sec-WebSocket-Protocol"));
    }
    AttachedApi.TenantSource.QueryParameters names =
        (AttachedApi.TenantSource.QueryParameters) source;
    return Stream.concat(Stream.of(names.tenant()), names.subject().stream())
        .map(name -> QUERY + name)
        .toList();
  }

  private CfnAuthorizer authorizer(Alias function) {
    CfnAuthorizer authorizer =
        CfnAuthorizer.Builder.create(this, "Authorizer")
            .apiId(attached.api().getApiId())
            .name("Tollgate")
            .authorizerType("REQUEST")
            .authorizerUri(uri(function))
            .identitySource(identitySources())
            .build();
    permit("Authorizer", function, "authorizers/" + authorizer.getRef());
    return authorizer;
  }

  private CfnIntegration integration(String id, String key, Alias function) {
    permit(id, function, "*/" + key);
    return CfnIntegration.Builder.create(this, id)
        .apiId(attached.api().getApiId())
        .integrationType("AWS_PROXY")
        .integrationUri(uri(function))
        .build();
  }

  private void permit(String id, Alias function, String part) {
    String name = id + "Permission";
    function.addPermission(
        name,
        Permission.builder()
            .scope(this)
            .principal(new ServicePrincipal("apigateway.amazonaws.com"))
            .sourceArn(
                Stack.of(this)
                    .formatArn(
                        ArnComponents.builder()
                            .service("execute-api")
                            .resource(attached.api().getApiId())
                            .resourceName(part)
                            .build()))
            .build());
    permissions.add((CfnPermission) getNode().findChild(name));
  }

  private static String uri(Alias function) {
    return "arn:"
        + Aws.PARTITION
        + ":apigateway:"
        + Aws.REGION
        + ":lambda:path/2015-03-31/functions/"
        + function.getFunctionArn()
        + "/invocations";
  }

  /**
   * The API's route, or a new one.
   *
   * @param function the application's function for the route, if there is one
   */
  private CfnRoute route(String key, Optional<IFunction> function) {
    Optional<CfnRoute> existing =
        inStackOfApi(CfnRoute.class)
            .filter(route -> route.getRouteKey().equals(key))
            .filter(route -> isSame(route.getApiId(), attached.api().getApiId()))
            .findFirst();
    if (existing.isPresent()) {
      requireUsable(existing.get(), function);
      return existing.get();
    }
    CfnRoute added =
        CfnRoute.Builder.create(this, key + "-Route")
            .apiId(attached.api().getApiId())
            .routeKey(key)
            .build();
    if (!key.equals(CONNECT)) {
      NagSuppressions.addResourceSuppressions(
          added,
          List.of(
              NagPackSuppression.builder()
                  .id("AwsSolutions-APIG4")
                  .reason("A WebSocket API supports an authorizer only at $connect.")
                  .build()));
    }
    return added;
  }

  private void requireUsable(CfnRoute route, Optional<IFunction> function) {
    if (!Optional.ofNullable(route.getAuthorizationType())
        .orElse(NO_AUTHORIZER)
        .equals(NO_AUTHORIZER)) {
      throw new IllegalArgumentException(
          "webSocketApi: the route $connect has an authorizer (expected: none; an API has one"
              + " authorizer, so move its checks to the function of $connect; and one Tollgate)");
    }
    String stack = Stack.of(route).getNode().getPath();
    if (!stack.equals(Stack.of(this).getNode().getPath())) {
      throw new IllegalArgumentException(
          "webSocketApi: the route "
              + route.getRouteKey()
              + " is in the stack "
              + stack
              + " (expected: in that of the Tollgate, because each of the two would need the other)");
    }
    if (function.isEmpty() && route.getTarget() != null && !isMock(route.getTarget())) {
      throw new IllegalArgumentException(
          "webSocketApi: the integration of the route "
              + route.getRouteKey()
              + " would no longer be invoked (expected: its function as "
              + route.getRouteKey().substring(1)
              + "(function), which Tollgate then invokes; or an integration of the type MOCK)");
    }
  }

  private boolean isMock(String target) {
    return inStackOfApi(CfnIntegration.class)
        .filter(integration -> integration.getIntegrationType().equals("MOCK"))
        .anyMatch(integration -> isSame(target, "integrations/" + integration.getRef()));
  }

  private <T> Stream<T> inStackOfApi(Class<T> type) {
    return Stack.of(attached.api()).getNode().findAll().stream()
        .filter(type::isInstance)
        .map(type::cast);
  }

  /** Compares texts with references, which may be written in different ways. */
  private boolean isSame(String one, String other) {
    return Stack.of(this).resolve(one).equals(Stack.of(this).resolve(other));
  }
}

package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
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
import software.amazon.awscdk.services.lambda.Permission;
import software.constructs.Construct;
import software.constructs.IConstruct;

/**
 * The authorizer, and the routes {@code $connect} and {@code $disconnect}, of an attached API.
 *
 * <p>A route that exists is changed and not replaced: CloudFormation creates new resources before
 * it deletes old ones, and API Gateway refuses a second route with the same key.
 */
final class AttachedRoutes extends Construct {
  private static final String CONNECT = "$connect";
  private static final String QUERY = "route.request.querystring.";
  private static final String HEADER = "route.request.header.";
  private static final String NO_AUTHORIZER = "NONE";

  private final AttachedApi attached;

  AttachedRoutes(
      Construct scope,
      AttachedApi attached,
      FunctionWithRoles authorizer,
      FunctionWithRoles connect,
      FunctionWithRoles disconnect) {
    super(scope, "Attached");
    this.attached = attached;
    CfnRoute opening = route(CONNECT);
    if (!Optional.ofNullable(opening.getAuthorizationType())
        .orElse(NO_AUTHORIZER)
        .equals(NO_AUTHORIZER)) {
      throw new IllegalArgumentException(
          "webSocketApi: the route $connect has an authorizer (expected: none; an API has one"
              + " authorizer, so move its checks to the function of $connect)");
    }
    opening.setAuthorizationType("CUSTOM");
    opening.setAuthorizerId(authorizer(authorizer.live()).getRef());
    opening.setTarget("integrations/" + integration("Connect", CONNECT, connect.live()).getRef());
    CfnRoute closing = route("$disconnect");
    closing.setTarget(
        "integrations/" + integration("Disconnect", "$disconnect", disconnect.live()).getRef());
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
    function.addPermission(
        id + "Permission",
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

  /** The API's route, or a new one. */
  private CfnRoute route(String key) {
    IConstruct existing = attached.api().getNode().tryFindChild(key + "-Route");
    if (existing != null) {
      return (CfnRoute) existing.getNode().getDefaultChild();
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
}

package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import software.amazon.awscdk.ArnComponents;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.WebSocketLambdaAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketLambdaIntegration;
import software.amazon.awscdk.services.apigateway.CfnAccount;
import software.amazon.awscdk.services.apigatewayv2.ThrottleSettings;
import software.amazon.awscdk.services.apigatewayv2.WebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRoute;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRouteOptions;
import software.amazon.awscdk.services.apigatewayv2.WebSocketStage;
import software.amazon.awscdk.services.iam.ManagedPolicy;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.constructs.Construct;

/** The API that clients open their sockets on, and its one stage. */
final class WebSocket extends Construct {
  private static final String STAGE = "production";

  private final WebSocketApi api;

  WebSocket(Construct scope, TollgateProps props) {
    super(scope, "WebSocket");
    api =
        WebSocketApi.Builder.create(this, "Api")
            .apiName(props.prefix() + "websocket")
            .routeSelectionExpression("$request.body.action")
            .build();
    WebSocketStage stage =
        WebSocketStage.Builder.create(this, "Stage")
            .webSocketApi(api)
            .stageName(STAGE)
            .autoDeploy(true)
            .accessLogSettings(AccessLog.ofWebSocketApi(this, props))
            .throttle(
                ThrottleSettings.builder()
                    .rateLimit(props.requestsPerSecond())
                    .burstLimit(props.requestBurst())
                    .build())
            .build();
    if (props.setsAccountLogRole()) {
      stage.getNode().addDependency(accountLogRole());
    }
  }

  /** Handshakes are decided by {@code authorizer} and completed by {@code connect}. */
  void routes(TenantFunction authorizer, TenantFunction connect, TenantFunction disconnect) {
    api.addRoute(
        "$connect",
        WebSocketRouteOptions.builder()
            .integration(new WebSocketLambdaIntegration("Connect", connect.live()))
            .authorizer(
                WebSocketLambdaAuthorizer.Builder.create("Authorizer", authorizer.live())
                    // Who lacks one is refused by API Gateway itself, at no invocation.
                    .identitySource(
                        List.of(
                            "route.request.querystring.tenantId",
                            "route.request.querystring.sessionId"))
                    .build())
            .build());
    WebSocketRoute route =
        api.addRoute(
            "$disconnect",
            WebSocketRouteOptions.builder()
                .integration(new WebSocketLambdaIntegration("Disconnect", disconnect.live()))
                .build());
    NagSuppressions.addResourceSuppressions(
        route,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-APIG4")
                .reason(
                    "A WebSocket API authorizes once, at $connect, and takes no authorizer on any "
                        + "other route. No client can send $disconnect: API Gateway does, when a "
                        + "connection that was authorized has gone.")
                .build()));
  }

  /** What clients connect to: {@code wss://…/production}. */
  String url() {
    return api.getApiEndpoint() + "/" + STAGE;
  }

  /** All connections of the stage, to be used with one method of {@code @connections}. */
  String connectionsArn(String method) {
    return Stack.of(this)
        .formatArn(
            ArnComponents.builder()
                .service("execute-api")
                .resource(api.getApiId())
                .resourceName(STAGE + "/" + method + "/@connections/*")
                .build());
  }

  /**
   * Lets API Gateway write logs in this account and Region. It is kept when the stack goes, because
   * other APIs may have come to need it.
   */
  private CfnAccount accountLogRole() {
    Role role =
        Role.Builder.create(this, "LogRole")
            .assumedBy(new ServicePrincipal("apigateway.amazonaws.com"))
            .description("Lets API Gateway write the logs of all APIs of this account and Region.")
            .managedPolicies(
                List.of(
                    ManagedPolicy.fromAwsManagedPolicyName(
                        "service-role/AmazonAPIGatewayPushToCloudWatchLogs")))
            .build();
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    NagSuppressions.addResourceSuppressions(
        role,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-IAM4")
                .appliesTo(
                    List.of(
                        "Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/"
                            + "AmazonAPIGatewayPushToCloudWatchLogs"))
                .reason(
                    "The role serves every API of the account, whose log groups are not known here, "
                        + "and API Gateway accepts only one that holds all that this policy, which "
                        + "AWS made for it, grants. It is trusted by API Gateway alone.")
                .build()));
    CfnAccount account =
        CfnAccount.Builder.create(this, "Account").cloudWatchRoleArn(role.getRoleArn()).build();
    account.applyRemovalPolicy(RemovalPolicy.RETAIN);
    return account;
  }
}

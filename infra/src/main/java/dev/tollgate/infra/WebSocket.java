package dev.tollgate.infra;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import software.amazon.awscdk.ArnComponents;
import software.amazon.awscdk.CfnResource;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.WebSocketLambdaAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketAwsIntegration;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketLambdaIntegration;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketMockIntegration;
import software.amazon.awscdk.services.apigateway.CfnAccount;
import software.amazon.awscdk.services.apigatewayv2.CfnApi;
import software.amazon.awscdk.services.apigatewayv2.CfnDeployment;
import software.amazon.awscdk.services.apigatewayv2.CfnIntegrationResponse;
import software.amazon.awscdk.services.apigatewayv2.CfnStage;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.PassthroughBehavior;
import software.amazon.awscdk.services.apigatewayv2.ThrottleSettings;
import software.amazon.awscdk.services.apigatewayv2.WebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.WebSocketIntegration;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRoute;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRouteIntegration;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRouteOptions;
import software.amazon.awscdk.services.apigatewayv2.WebSocketStage;
import software.amazon.awscdk.services.iam.ManagedPolicy;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.jsii.Kernel;
import software.amazon.jsii.NativeType;
import software.constructs.Construct;

/** The WebSocket API and its stage: Tollgate's own, or the application's. */
final class WebSocket extends Construct {
  private static final String STAGE = "production";

  /** The key of the default route, integration response or template. */
  private static final String DEFAULT = "$default";

  /** Selects the template with that key: API Gateway evaluates the expression as a constant. */
  private static final String ALWAYS_DEFAULT = "\\$default";

  private static final String INTEGRATION = "Integration";

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

  private final boolean tracing;
  private final IWebSocketApi reached;
  private final String stageName;
  private final Optional<Own> own;

  /** An API that this construct creates. */
  private record Own(WebSocketApi api, WebSocketStage stage) {}

  WebSocket(Construct scope, TollgateProps props) {
    super(scope, "WebSocket");
    tracing = props.tracing();
    own = props.webSocketApi().isPresent() ? Optional.empty() : Optional.of(created(props));
    reached = props.webSocketApi().map(AttachedApi::api).orElseGet(() -> own.orElseThrow().api());
    stageName = props.webSocketApi().map(each -> each.stage().getStageName()).orElse(STAGE);
  }

  private Own created(TollgateProps props) {
    WebSocketApi api =
        WebSocketApi.Builder.create(this, "Api")
            .apiName(props.prefix() + "websocket")
            .routeSelectionExpression("$request.body.action")
            .build();
    WebSocketStage stage =
        WebSocketStage.Builder.create(this, "Stage")
            .webSocketApi(api)
            .stageName(STAGE)
            .autoDeploy(false)
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
    return new Own(api, stage);
  }

  /**
   * Adds all routes to an API of its own, and deploys it.
   *
   * @param authorizer decides on handshakes
   * @param connect completes them
   */
  void routes(
      FunctionWithRoles authorizer,
      FunctionWithRoles connect,
      FunctionWithRoles disconnect,
      MessageQueues messages) {
    routes(own.orElseThrow().api(), authorizer, connect, disconnect);
    messageRoutes(messages);
    deploy(this, own.orElseThrow().stage());
  }

  private static void routes(
      WebSocketApi api,
      FunctionWithRoles authorizer,
      FunctionWithRoles connect,
      FunctionWithRoles disconnect) {
    api.addRoute(
        "$connect",
        WebSocketRouteOptions.builder()
            .integration(new WebSocketLambdaIntegration("Connect", connect.live()))
            .authorizer(
                WebSocketLambdaAuthorizer.Builder.create("Authorizer", authorizer.live())
                    // API Gateway refuses a request without one, without invoking the function.
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
                    "A WebSocket API supports an authorizer only at $connect. Clients cannot invoke "
                        + "$disconnect: API Gateway invokes it after an authorized connection has "
                        + "closed.")
                .build()));
  }

  /**
   * Adds the routes of messages. API Gateway sends frames directly to a queue, without a function,
   * and answers them. Frames with an unknown action are answered with an error.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-integration-responses.html">Integration
   *     responses</a>
   */
  private void messageRoutes(MessageQueues messages) {
    // A condition on the API would be better, but AWS does not document which condition keys API
    // Gateway sends. It accepts only roles of its own account, from principals that may pass them.
    Role sender =
        Role.Builder.create(this, "Sender")
            .assumedBy(new ServicePrincipal("apigateway.amazonaws.com"))
            .description("Allows API Gateway to send clients' frames to the message queues.")
            .build();
    sender.addToPolicy(Policies.statement(messages.queueArns(), "sqs", "SendMessage").build());
    messages.acceptSilos(sender);

    WebSocketRoute pooled =
        answering("PooledSQS", sending(tracing, sender, messages.poolUri(), Map.of()));
    answers(pooled, template("pool") + template("answer"));

    WebSocketRoute silo =
        answering(
            "SiloSQS",
            sending(
                tracing,
                sender,
                messages.siloUri(),
                // The tenant id comes from the authorizer, never from the frame.
                Map.of("integration.request.path.tenantId", "context.authorizer.tenantId")));
    answers(silo, template("silo") + template("answer"));

    WebSocketRoute others =
        answering(
            DEFAULT,
            WebSocketMockIntegration.Builder.create(INTEGRATION)
                .requestTemplates(Map.of(DEFAULT, template("mock")))
                .templateSelectionExpression(ALWAYS_DEFAULT)
                .build());
    answer(others, "Answer", DEFAULT, template("unknown-action"));
  }

  /** An integration that sends a message to a queue with SQS's query protocol. */
  static WebSocketAwsIntegration sending(
      boolean tracing, Role sender, String uri, Map<String, String> parameters) {
    SortedMap<String, String> all = new TreeMap<>(parameters);
    all.put("integration.request.header.Accept", "'application/json'");
    all.put("integration.request.header.Content-Type", "'application/x-www-form-urlencoded'");
    return WebSocketAwsIntegration.Builder.create(INTEGRATION)
        .integrationMethod("POST")
        .integrationUri(uri)
        .credentialsRole(sender)
        .requestParameters(all)
        .requestTemplates(
            Map.of(DEFAULT, template("send-message") + (tracing ? template("trace") : "")))
        .templateSelectionExpression(ALWAYS_DEFAULT)
        .passthroughBehavior(PassthroughBehavior.NEVER)
        .build();
  }

  /** A route that answers each frame. */
  private WebSocketRoute answering(String key, WebSocketRouteIntegration integration) {
    return answering(own.orElseThrow().api(), key, integration);
  }

  /** A route of an API that answers each frame. */
  static WebSocketRoute answering(
      WebSocketApi api, String key, WebSocketRouteIntegration integration) {
    WebSocketRoute route =
        api.addRoute(
            key,
            WebSocketRouteOptions.builder().integration(integration).returnResponse(true).build());
    NagSuppressions.addResourceSuppressions(
        route,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-APIG4")
                .reason(
                    "A WebSocket API supports an authorizer only at $connect. Only authorized "
                        + "connections can send frames.")
                .build()));
    return route;
  }

  /**
   * The answers to frames that SQS gets, which are one template for all statuses. AWS names the
   * expression that selects a response for integrations with HTTP and Lambda only, not for those
   * with SQS: if it is not the status, each frame gets the default response.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/websocket-api-data-transformations.html">Data
   *     transformations for WebSocket APIs</a>
   */
  private void answers(WebSocketRoute route, String template) {
    answer(route, "Accepted", "/2\\d\\d/", template);
    answer(route, "Refused", "/4\\d\\d/", template);
    answer(route, "Failed", DEFAULT, template);
  }

  /** The answer to the client for a pattern of backend statuses. */
  static CfnIntegrationResponse answer(
      WebSocketRoute route, String id, String statuses, String template) {
    WebSocketIntegration integration =
        (WebSocketIntegration) route.getNode().findChild(INTEGRATION);
    return CfnIntegrationResponse.Builder.create(route, id)
        .apiId(route.getWebSocketApi().getApiId())
        .integrationId(integration.getIntegrationId())
        .integrationResponseKey(statuses)
        .responseTemplates(Map.of(DEFAULT, template))
        .templateSelectionExpression(ALWAYS_DEFAULT)
        .build();
  }

  /**
   * Deploys the API that is in a scope to its stage, after all routes have been added.
   *
   * <p>A deployment is a snapshot of the API. Its logical id contains a digest of the API's
   * definition, so that CloudFormation creates a new deployment when a route, an integration or a
   * response changes. {@code AutoDeploy} is no alternative: AWS does not document which changes
   * trigger it.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-set-up-websocket-deployment.html">Deploy
   *     WebSocket APIs</a>
   */
  static void deploy(Construct scope, WebSocketStage stage) {
    List<CfnResource> definition =
        scope.getNode().findAll().stream()
            .filter(CfnResource.class::isInstance)
            .map(CfnResource.class::cast)
            .filter(resource -> resource.getCfnResourceType().startsWith("AWS::ApiGatewayV2::"))
            .filter(resource -> !(resource instanceof CfnStage))
            .toList();
    CfnDeployment deployment =
        CfnDeployment.Builder.create(scope, "Deployment" + digest(definition))
            .apiId(stage.getApi().getApiId())
            .build();
    definition.stream()
        .filter(resource -> !(resource instanceof CfnApi)) // apiId refers to it
        .forEach(deployment::addResourceDependency);
    ((CfnStage) stage.getNode().findChild("Resource")).setDeploymentId(deployment.getRef());
  }

  /** A digest of all properties of some resources. */
  static String digest(List<CfnResource> resources) {
    SortedMap<String, Object> definition = new TreeMap<>();
    for (CfnResource resource : resources) {
      // The CDK's construct for deployments of REST APIs digests the same properties. The accessor
      // is protected in Java.
      Map<String, Object> properties =
          Kernel.get(
              resource, "cfnProperties", NativeType.mapOf(NativeType.forClass(Object.class)));
      definition.put(resource.getNode().getPath(), Stack.of(resource).resolve(properties));
    }
    try {
      byte[] sha256 =
          MessageDigest.getInstance("SHA-256").digest(JSON.writeValueAsBytes(definition));
      return HexFormat.of().formatHex(sha256, 0, 8);
    } catch (JsonProcessingException | NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  static String template(String name) {
    return ClasspathFile.read("templates/" + name + ".vtl");
  }

  /** The URL that clients connect to: {@code wss://…/production}, or that of the other API. */
  String url() {
    return reached.getApiEndpoint() + "/" + stageName;
  }

  /** The ARN pattern of all connections of the stage, for one method of {@code @connections}. */
  String connectionsArn(String method) {
    return Stack.of(this)
        .formatArn(
            ArnComponents.builder()
                .service("execute-api")
                .resource(reached.getApiId())
                .resourceName(stageName + "/" + method + "/@connections/*")
                .build());
  }

  /**
   * Allows API Gateway to write logs in this account and Region. The setting is kept when the stack
   * is deleted, because other APIs may use it. It is kept even if the creation of the stack fails:
   * without the role, other APIs of the account could not write logs.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-account.html">AWS::ApiGateway::Account</a>,
   *     of which an account should have only one in a Region
   */
  private CfnAccount accountLogRole() {
    Role role =
        Role.Builder.create(this, "LogRole")
            .assumedBy(new ServicePrincipal("apigateway.amazonaws.com"))
            .description(
                "Allows API Gateway to write the logs of all APIs of this account and Region.")
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
                    "The role serves every API of the account, so the stack cannot name the log "
                        + "groups. API Gateway accepts only a role with all permissions of this AWS "
                        + "managed policy. Only API Gateway may assume the role.")
                .build()));
    CfnAccount account =
        CfnAccount.Builder.create(this, "Account").cloudWatchRoleArn(role.getRoleArn()).build();
    account.applyRemovalPolicy(RemovalPolicy.RETAIN);
    return account;
  }
}

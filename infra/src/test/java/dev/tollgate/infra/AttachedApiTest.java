package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.cdklabs.cdknag.AwsSolutionsChecks;
import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awscdk.App;
import software.amazon.awscdk.Aspects;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.assertions.Template;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.WebSocketIamAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketLambdaIntegration;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketMockIntegration;
import software.amazon.awscdk.services.apigatewayv2.CfnRoute;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketStage;
import software.amazon.awscdk.services.apigatewayv2.WebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.WebSocketApiAttributes;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRouteOptions;
import software.amazon.awscdk.services.apigatewayv2.WebSocketStage;
import software.amazon.awscdk.services.apigatewayv2.WebSocketStageAttributes;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.Runtime;
import software.constructs.IConstruct;

/** A Tollgate that protects a WebSocket API of the application. */
class AttachedApiTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final SessionAccess.Jwt LOGIN =
      new SessionAccess.Jwt("https://login.example.com/", List.of("chat", "app"), "workspace");

  private final App app = new App();
  private final Stack stack = new Stack(app, "Chat");
  private final Function welcome =
      Function.Builder.create(stack, "Welcome")
          .runtime(Runtime.NODEJS_22_X)
          .handler("index.handler")
          .code(Code.fromInline("-"))
          .build();

  private WebSocketRouteOptions toWelcome() {
    return WebSocketRouteOptions.builder()
        .integration(new WebSocketLambdaIntegration("Welcome", welcome))
        .build();
  }

  private WebSocketApi api() {
    return WebSocketApi.Builder.create(stack, "Api").apiName("chat").build();
  }

  private Synthesis attached(WebSocketApi api, UnaryOperator<AttachedApi> settings) {
    WebSocketStage stage =
        WebSocketStage.Builder.create(stack, "Stage")
            .webSocketApi(api)
            .stageName("live")
            .autoDeploy(true)
            .build();
    new Tollgate(
        stack,
        "Tollgate",
        TollgateProps.builder()
            .jars(Synthesis.jarsWithoutCode())
            .webSocketApi(settings.apply(AttachedApi.of(api, stage)))
            .build());
    return new Synthesis(JSON.valueToTree(Template.fromStack(stack).toJSON()), List.of());
  }

  private static Map<String, JsonNode> webSocketRoutes(Synthesis chat) {
    return chat.resources("AWS::ApiGatewayV2::Route").values().stream()
        .map(route -> route.path("Properties"))
        .filter(route -> route.at("/ApiId/Ref").asText().startsWith("Api"))
        .collect(Collectors.toMap(route -> route.path("RouteKey").asText(), route -> route));
  }

  @Test
  void routes_that_exist_are_changed_in_place_and_others_stay() {
    WebSocketApi api = api();
    api.addRoute("$connect", toWelcome());
    api.addRoute("say", toWelcome());

    Synthesis chat = attached(api, settings -> settings.connect(welcome));

    Map<String, JsonNode> routes = webSocketRoutes(chat);
    assertThat(routes).containsOnlyKeys("$connect", "$disconnect", "say");
    JsonNode connect = routes.get("$connect");
    assertThat(connect.path("AuthorizationType").asText()).isEqualTo("CUSTOM");
    assertThat(connect.at("/AuthorizerId/Ref").asText()).startsWith("TollgateAttachedAuthorizer");
    assertThat(connect.path("Target").toString()).contains("TollgateAttachedConnect");
    assertThat(routes.get("$disconnect").path("Target").toString())
        .contains("TollgateAttachedDisconnect");
    assertThat(routes.get("say").path("Target").toString()).doesNotContain("Tollgate");
    assertThat(routes.get("say").path("AuthorizationType").asText("NONE")).isEqualTo("NONE");
    assertThat(chat.resources("AWS::ApiGatewayV2::Route").keySet())
        .filteredOn(id -> id.startsWith("Apiconnect"))
        .hasSize(1);
  }

  @Test
  void application_with_tollgate_has_no_cdk_nag_findings_but_its_own() {
    Aspects.of(app).add(AwsSolutionsChecks.Builder.create().reports(false).verbose(true).build());
    WebSocketApi api = api();
    api.addRoute("$connect", toWelcome());
    accept(welcome, "AwsSolutions-IAM4", "AwsSolutions-L1");
    attached(
        api,
        settings -> {
          accept(stack.getNode().findChild("Stage"), "AwsSolutions-APIG1");
          return settings.connect(welcome).tenantParameter("workspace");
        });
    assertThat(Synthesis.findings(app)).isEmpty();
  }

  /** Suppresses findings in what the application defines. */
  private static void accept(IConstruct construct, String... findings) {
    NagSuppressions.addResourceSuppressions(
        construct,
        Stream.of(findings)
            .map(
                finding ->
                    NagPackSuppression.builder().id(finding).reason("the application's").build())
            .toList(),
        true);
  }

  @Test
  void stack_creates_no_websocket_api_and_no_deployment() {
    Synthesis chat = attached(api(), settings -> settings);
    assertThat(chat.resources("AWS::ApiGatewayV2::Api").values())
        .filteredOn(api -> api.at("/Properties/ProtocolType").asText().equals("WEBSOCKET"))
        .hasSize(1);
    assertThat(chat.resources("AWS::ApiGatewayV2::Deployment")).isEmpty();
    assertThat(webSocketRoutes(chat)).containsOnlyKeys("$connect", "$disconnect");
  }

  @Test
  void function_forwards_to_the_applications_function_and_may_invoke_no_other() {
    Synthesis chat = attached(api(), settings -> settings.connect(welcome));
    JsonNode connect = chat.properties("AWS::Lambda::Function", "TollgateConnectFunction");
    assertThat(connect.path("Handler").asText())
        .isEqualTo("dev.tollgate.handlers.connect.AttachedConnect");
    assertThat(connect.path("Timeout").asInt()).isEqualTo(29);
    JsonNode arn = connect.at("/Environment/Variables/APPLICATION_FUNCTION_ARN");
    assertThat(arn.toString()).contains("Welcome");
    String role =
        chat.resources("AWS::IAM::Role").keySet().stream()
            .filter(id -> id.startsWith("TollgateConnectRole"))
            .findFirst()
            .orElseThrow();
    assertThat(chat.statementsOf(role))
        .filteredOn(statement -> statement.path("Action").asText().equals("lambda:InvokeFunction"))
        .singleElement()
        .satisfies(statement -> assertThat(statement.path("Resource")).isEqualTo(arn));
    assertThat(
            chat.properties("AWS::Lambda::Function", "TollgateDisconnectFunction")
                .path("Handler")
                .asText())
        .isEqualTo("dev.tollgate.handlers.connect.Disconnect");
  }

  @Test
  void authorizer_requires_the_parameters_that_name_tenant_and_subject() {
    Synthesis chat =
        attached(
            api(),
            settings ->
                settings.tenants(
                    new AttachedApi.TenantSource.QueryParameters(
                        "workspace", Optional.of("user"))));
    JsonNode authorizer =
        chat.properties("AWS::ApiGatewayV2::Authorizer", "TollgateAttachedAuthorizer");
    assertThat(Synthesis.texts(authorizer.path("IdentitySource")))
        .containsExactly("route.request.querystring.workspace", "route.request.querystring.user");
    JsonNode variables =
        chat.properties("AWS::Lambda::Function", "TollgateAuthorizerFunction")
            .at("/Environment/Variables");
    assertThat(variables.path("TENANT_PARAMETER").asText()).isEqualTo("workspace");
    assertThat(variables.path("SUBJECT_PARAMETER").asText()).isEqualTo("user");
    assertThat(variables.path("OPENED_SESSIONS").asText()).isEqualTo("PER_SUBJECT");
  }

  @Test
  void connect_route_with_an_authorizer_and_malformed_names_are_refused() {
    WebSocketApi api = api();
    api.addRoute(
        "$connect",
        WebSocketRouteOptions.builder()
            .integration(new WebSocketLambdaIntegration("Welcome", welcome))
            .authorizer(new WebSocketIamAuthorizer())
            .build());
    assertThatThrownBy(() -> attached(api, settings -> settings))
        .hasMessageContaining("the route $connect has an authorizer");
    assertThatThrownBy(() -> new AttachedApi.TenantSource.QueryParameters("a b", Optional.empty()))
        .hasMessageContaining("tenant: \"a b\"");
  }

  @Test
  void an_L1_route_is_changed_in_place() {
    WebSocketApi api = api();
    CfnRoute.Builder.create(stack, "Own").apiId(api.getApiId()).routeKey("$connect").build();

    Synthesis chat = attached(api, settings -> settings);

    assertThat(chat.resources("AWS::ApiGatewayV2::Route").keySet()).contains("Own");
    JsonNode own = chat.properties("AWS::ApiGatewayV2::Route", "Own");
    assertThat(own.at("/AuthorizerId/Ref").asText()).startsWith("TollgateAttachedAuthorizer");
    assertThat(webSocketRoutes(chat)).containsOnlyKeys("$connect", "$disconnect");
  }

  @Test
  void a_second_tollgate_of_the_same_api_is_refused() {
    WebSocketApi api = api();
    attached(api, settings -> settings);

    assertThatThrownBy(
            () ->
                new Tollgate(
                    stack,
                    "Second",
                    TollgateProps.builder()
                        .prefix("b_")
                        .jars(Synthesis.jarsWithoutCode())
                        .webSocketApi(
                            AttachedApi.of(
                                api, (WebSocketStage) stack.getNode().findChild("Stage")))
                        .build()))
        .hasMessageContaining("the route $connect has an authorizer");
  }

  @Test
  void a_function_that_would_no_longer_be_invoked_is_reported() {
    WebSocketApi api = api();
    api.addRoute("$connect", toWelcome());
    api.addRoute("$disconnect", toWelcome());

    assertThatThrownBy(() -> attached(api, settings -> settings.disconnect(welcome)))
        .hasMessageContaining("the integration of the route $connect would no longer be invoked")
        .hasMessageContaining("its function as connect(function)");
  }

  @Test
  void an_integration_without_a_function_may_be_replaced() {
    WebSocketApi api = api();
    api.addRoute(
        "$connect",
        WebSocketRouteOptions.builder().integration(new WebSocketMockIntegration("Any")).build());

    assertThat(webSocketRoutes(attached(api, settings -> settings)).get("$connect").toString())
        .contains("TollgateAttachedConnect");
  }

  @Test
  void an_imported_api_gets_its_routes() {
    IWebSocketApi imported =
        WebSocketApi.fromWebSocketApiAttributes(
            stack,
            "Imported",
            WebSocketApiAttributes.builder()
                .webSocketId("a1b2c3")
                .apiEndpoint("wss://a1b2c3.execute-api.eu-central-1.amazonaws.com")
                .build());
    IWebSocketStage stage =
        WebSocketStage.fromWebSocketStageAttributes(
            stack,
            "Stage",
            WebSocketStageAttributes.builder().api(imported).stageName("live").build());
    Tollgate tollgate =
        new Tollgate(
            stack,
            "Tollgate",
            TollgateProps.builder()
                .jars(Synthesis.jarsWithoutCode())
                .webSocketApi(AttachedApi.of(imported, stage).connect(welcome))
                .build());
    Synthesis chat = new Synthesis(JSON.valueToTree(Template.fromStack(stack).toJSON()), List.of());
    assertThat(tollgate.webSocketUrl())
        .isEqualTo("wss://a1b2c3.execute-api.eu-central-1.amazonaws.com/live");
    assertThat(chat.resources("AWS::ApiGatewayV2::Route").values())
        .extracting(route -> route.at("/Properties/RouteKey").asText())
        .contains("$connect", "$disconnect");
  }

  @Test
  void a_route_of_another_stack_is_refused() {
    WebSocketApi api = api();
    api.addRoute("$connect", toWelcome());
    WebSocketStage stage =
        WebSocketStage.Builder.create(stack, "Stage").webSocketApi(api).stageName("live").build();

    assertThatThrownBy(
            () ->
                new Tollgate(
                    new Stack(app, "Other"),
                    "Tollgate",
                    TollgateProps.builder()
                        .jars(Synthesis.jarsWithoutCode())
                        .webSocketApi(AttachedApi.of(api, stage).connect(welcome))
                        .build()))
        .hasMessageContaining("the route $connect is in the stack Chat");
  }

  /** Handshakes would fail until then, and API Gateway takes one change of an API at a time. */
  @Test
  void routes_are_changed_one_after_the_other_and_after_what_their_functions_need() {
    WebSocketApi api = api();
    api.addRoute("$connect", toWelcome());
    api.addRoute("$disconnect", toWelcome());

    Synthesis chat = attached(api, settings -> settings.connect(welcome).disconnect(welcome));

    assertThat(dependencies(chat, "Apiconnect"))
        .contains(
            "TollgateAttachedAuthorizerPermission",
            "TollgateAttachedConnectPermission",
            "TollgateAttachedDisconnect",
            "TollgateAttachedDisconnectPermission",
            "TollgateConnectTenantRoleDefaultPolicy");
    assertThat(dependencies(chat, "Apidisconnect")).contains("ApiconnectRoute");
  }

  /** The resources that a route depends on, without the digests of their logical ids. */
  private static List<String> dependencies(Synthesis chat, String route) {
    return chat.resources("AWS::ApiGatewayV2::Route").entrySet().stream()
        .filter(each -> each.getKey().startsWith(route))
        .flatMap(each -> Synthesis.texts(each.getValue().path("DependsOn")))
        .map(id -> id.replaceFirst("[0-9A-F]{8}$", ""))
        .toList();
  }

  @Test
  void a_token_is_required_where_the_handshake_carries_it() {
    Synthesis chat =
        attached(
            api(),
            settings ->
                settings.tenants(
                    new AttachedApi.TenantSource.WebToken(
                        new AttachedApi.TokenPlace.Subprotocol(),
                        LOGIN,
                        Optional.of("sub"),
                        Set.of(AttachedApi.Algorithm.RS256, AttachedApi.Algorithm.ES256),
                        Duration.ofSeconds(5))));
    assertThat(
            Synthesis.texts(
                chat.properties("AWS::ApiGatewayV2::Authorizer", "TollgateAttachedAuthorizer")
                    .path("IdentitySource")))
        .containsExactly("route.request.header.Sec-WebSocket-Protocol");
    JsonNode variables =
        chat.properties("AWS::Lambda::Function", "TollgateAuthorizerFunction")
            .at("/Environment/Variables");
    Map.of(
            "TOKEN_PLACE", "subprotocol",
            "TOKEN_ISSUER", "https://login.example.com/",
            "TOKEN_AUDIENCES", "chat app",
            "TOKEN_ALGORITHMS", "RS256 ES256",
            "TOKEN_CLOCK_SKEW_SECONDS", "5",
            "TENANT_CLAIM", "workspace",
            "SUBJECT_CLAIM", "sub",
            "OPENED_SESSIONS", "PER_SUBJECT")
        .forEach(
            (name, value) -> assertThat(variables.path(name).asText()).as(name).isEqualTo(value));
    assertThat(variables.has("TENANT_PARAMETER")).isFalse();
  }

  /** The ids of subjects' sessions are no secrets. */
  @Test
  void sessions_of_callers_outside_the_account_are_refused() {
    WebSocketApi api = api();
    WebSocketStage stage =
        WebSocketStage.Builder.create(stack, "Stage").webSocketApi(api).stageName("live").build();
    TollgateProps.Builder props =
        TollgateProps.builder()
            .jars(Synthesis.jarsWithoutCode())
            .webSocketApi(AttachedApi.of(api, stage));
    for (SessionAccess access : List.of(new SessionAccess.Open(), LOGIN)) {
      assertThatThrownBy(() -> props.sessionAccess(access).build())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("sessionAccess: " + access.getClass().getSimpleName());
    }
    assertThat(props.sessionAccess(new SessionAccess.Signed()).build().webSocketApi()).isPresent();
  }

  @Test
  void malformed_settings_of_tokens_are_refused() {
    AttachedApi.TokenPlace place = new AttachedApi.TokenPlace.Authorization();
    Set<AttachedApi.Algorithm> one = Set.of(AttachedApi.Algorithm.RS256);
    assertThatThrownBy(() -> token(place, "a b", one, 5)).hasMessageContaining("subject: \"a b\"");
    assertThatThrownBy(() -> token(place, "sub", Set.of(), 5)).hasMessageContaining("algorithms");
    assertThatThrownBy(() -> token(place, "sub", one, 301)).hasMessageContaining("clockSkew");
    assertThatThrownBy(() -> token(place, "sub", one, -1)).hasMessageContaining("clockSkew");
    assertThatThrownBy(() -> new AttachedApi.TokenPlace.Query(""))
        .hasMessageContaining("parameter");
  }

  private static AttachedApi.TenantSource token(
      AttachedApi.TokenPlace place,
      String subject,
      Set<AttachedApi.Algorithm> algorithms,
      int seconds) {
    return new AttachedApi.TenantSource.WebToken(
        place, LOGIN, Optional.of(subject), algorithms, Duration.ofSeconds(seconds));
  }
}

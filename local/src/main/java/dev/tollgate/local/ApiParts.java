package dev.tollgate.local;

import dev.tollgate.local.gateway.Cors;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.gateway.HttpApiSpec;
import dev.tollgate.local.gateway.Integration;
import dev.tollgate.local.gateway.IssuerKeys;
import dev.tollgate.local.gateway.JwtAuthorizer;
import dev.tollgate.local.gateway.WebSocketApiSpec;
import dev.tollgate.local.template.Properties;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Gathers HTTP and WebSocket APIs with their routes, integrations, authorizers and stages, which
 * are resources of their own, until all can be served.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_ApiGatewayV2.html">AWS::ApiGatewayV2</a>
 */
final class ApiParts {
  private static final Pattern SERVICE_URI =
      Pattern.compile("arn:[^:]+:apigateway:[^:]+:([^:]+):path/(.+)");

  /** "Quotas for configuring and running a WebSocket API". */
  private static final Duration MAX_TIMEOUT = Duration.ofSeconds(29);

  private static final String AUTHORIZATION = "$request.header.Authorization";

  private final InetSocketAddress gateway;
  private final Map<String, URI> keySets;
  private final Predicate<String> openIssuers;
  private final InstantSource clock;
  private final Map<String, Part> apis = new LinkedHashMap<>();
  private final Map<String, IntegrationPart> integrations = new HashMap<>();
  private final Map<String, Route> routes = new HashMap<>();
  private final Map<String, WebSocketApiSpec.Authorizer> authorizers = new HashMap<>();
  private final Map<String, TokenAuthorizer> tokenAuthorizers = new HashMap<>();
  private final Set<String> issuers = new TreeSet<>();

  /** An API, and what was found of it so far. */
  private static final class Part {
    private final boolean webSocket;
    private final String routeSelection;
    private final Optional<Cors> cors;
    private final List<Route> routes = new ArrayList<>();
    private final List<String> stages = new ArrayList<>();
    private Map<String, String> stageVariables = Map.of();
    private Optional<WebSocketApiSpec.Authorizer> authorizer = Optional.empty();

    private Part(boolean webSocket, String routeSelection, Optional<Cors> cors) {
      this.webSocket = webSocket;
      this.routeSelection = routeSelection;
      this.cors = cors;
    }
  }

  /** A route, which answers if a route response is found. */
  private static final class Route {
    private final String key;
    private final IntegrationPart integration;
    private final HttpApiSpec.Authorization authorization;
    private boolean answers;

    private Route(
        String key, IntegrationPart integration, HttpApiSpec.Authorization authorization) {
      this.key = key;
      this.integration = integration;
      this.authorization = authorization;
    }
  }

  /**
   * An authorizer of an HTTP API that takes tokens.
   *
   * @param api the API that it is of
   * @param authorizer checks them; empty if it lets everybody through, see {@link UserPools}
   */
  private record TokenAuthorizer(String api, Optional<JwtAuthorizer> authorizer) {}

  /**
   * An integration, whose responses are resources that come after it.
   *
   * @param function the function, if it is one that serves it
   * @param with makes the integration of its responses
   */
  private record IntegrationPart(
      Optional<String> function,
      List<Integration.Response> responses,
      Function<List<Integration.Response>, Integration> with) {
    private Integration integration() {
      return with.apply(responses);
    }
  }

  /**
   * Parts of no API yet.
   *
   * @param gateway where they will be served
   * @param keySets where the keys of issuers of tokens are, by issuer, if not where these say
   * @param openIssuers which issuers nobody can have a token of here: routes that ask for one are
   *     open. All of them have been brought up before an authorizer names them
   * @param clock the time that tokens and keys age by
   */
  ApiParts(
      InetSocketAddress gateway,
      Map<String, URI> keySets,
      Predicate<String> openIssuers,
      InstantSource clock) {
    this.gateway = gateway;
    this.keySets = Map.copyOf(keySets);
    this.openIssuers = openIssuers;
    this.clock = clock;
  }

  Brought api(String logicalName, Properties properties) {
    String id = properties.text("Name").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    String protocol = properties.text("ProtocolType");
    if (!protocol.matches("HTTP|WEBSOCKET")) {
      throw properties.error("ProtocolType", protocol + " (expected: HTTP or WEBSOCKET)");
    }
    boolean webSocket = protocol.equals("WEBSOCKET");
    properties.ignore("Description", "DisableExecuteApiEndpoint", "Tags");
    Part part =
        new Part(
            webSocket,
            properties.optionalText("RouteSelectionExpression").orElse(""),
            properties.object("CorsConfiguration").map(ApiParts::cors));
    if (apis.putIfAbsent(id, part) != null) {
      throw properties.error("Name", id + " (expected: another than that of any other API)");
    }
    String endpoint =
        "%s://%s:%d/%s"
            .formatted(
                webSocket ? "ws" : "http",
                // Everywhere is no address that one could go to.
                gateway.getAddress().isAnyLocalAddress()
                    ? "127.0.0.1"
                    : gateway.getAddress().getHostAddress(),
                gateway.getPort(),
                id);
    return new Brought(id, Map.of("ApiEndpoint", endpoint, "ApiId", id));
  }

  Brought integration(String logicalName, Properties properties) {
    String type = properties.text("IntegrationType");
    properties.ignore("ApiId", "ConnectionType", "Description");
    integrations.put(
        logicalName,
        switch (type) {
          case "AWS_PROXY" -> functionIntegration(properties);
          case "AWS" -> serviceIntegration(properties);
          case "MOCK" -> mockIntegration(properties);
          default ->
              throw properties.error(
                  "IntegrationType", type + " (expected: AWS_PROXY, AWS or MOCK)");
        });
    return Brought.of(logicalName);
  }

  private static IntegrationPart functionIntegration(Properties properties) {
    properties
        .optionalText("PayloadFormatVersion")
        .filter(version -> !version.equals("2.0"))
        .ifPresent(
            version -> {
              throw properties.error("PayloadFormatVersion", version + " (expected: 2.0)");
            });
    properties.ignore("IntegrationMethod", "TimeoutInMillis");
    String arn = functionArn(properties.text("IntegrationUri"));
    return new IntegrationPart(
        Optional.of(arn), List.of(), responses -> new Integration.Function(arn));
  }

  private static IntegrationPart serviceIntegration(Properties properties) {
    String uri = properties.text("IntegrationUri");
    Matcher service = SERVICE_URI.matcher(uri);
    if (!service.matches()) {
      throw properties.error(
          "IntegrationUri", uri + " (expected: arn:aws:apigateway:REGION:SERVICE:path/PATH)");
    }
    // There is a template for everything, so nothing can pass by it.
    properties.ignore("PassthroughBehavior");
    String role = properties.text("CredentialsArn");
    String method = properties.text("IntegrationMethod");
    Map<String, String> parameters = properties.textMap("RequestParameters");
    String template = requiredTemplate(properties, "RequestTemplates");
    Duration timeout =
        properties.integer("TimeoutInMillis").map(Duration::ofMillis).orElse(MAX_TIMEOUT);
    return new IntegrationPart(
        Optional.empty(),
        new ArrayList<>(),
        responses ->
            new Integration.Service(
                role,
                service.group(1),
                method,
                "/" + service.group(2),
                parameters,
                template,
                timeout,
                responses));
  }

  private static IntegrationPart mockIntegration(Properties properties) {
    properties.ignore("IntegrationUri", "PassthroughBehavior");
    String template = requiredTemplate(properties, "RequestTemplates");
    return new IntegrationPart(
        Optional.empty(),
        new ArrayList<>(),
        responses -> new Integration.Mock(template, responses));
  }

  Brought integrationResponse(String logicalName, Properties properties) {
    String id = properties.text("IntegrationId");
    IntegrationPart integration = integrations.get(id);
    if (integration == null || integration.function().isPresent()) {
      throw properties.error(
          "IntegrationId", id + " (expected: an integration of the template that is no proxy)");
    }
    properties.ignore("ApiId");
    integration
        .responses()
        .add(
            new Integration.Response(
                properties.text("IntegrationResponseKey"),
                template(properties, "ResponseTemplates")));
    return Brought.of(logicalName);
  }

  Brought routeResponse(String logicalName, Properties properties) {
    String id = properties.text("RouteId");
    Route route = routes.get(id);
    if (route == null) {
      throw properties.error("RouteId", id + " (expected: a route of the template)");
    }
    requireDefault(properties, "RouteResponseKey", "$default");
    properties.ignore("ApiId");
    route.answers = true;
    return Brought.of(logicalName);
  }

  private static String requiredTemplate(Properties properties, String name) {
    return template(properties, name)
        .orElseThrow(() -> properties.error(name, "absent (expected: a template)"));
  }

  /** The one template of an integration or of its response, which is for everything. */
  private static Optional<String> template(Properties properties, String name) {
    Map<String, String> templates = properties.textMap(name);
    if (!templates.keySet().equals(Set.of("$default")) && !templates.isEmpty()) {
      throw properties.error(name, templates.keySet() + " (expected: $default)");
    }
    if (!templates.isEmpty()) {
      requireDefault(properties, "TemplateSelectionExpression", "\\$default");
    }
    return Optional.ofNullable(templates.get("$default"));
  }

  private static void requireDefault(Properties properties, String name, String expected) {
    String value = properties.text(name);
    if (!value.equals(expected)) {
      throw properties.error(name, value + " (expected: " + expected + ")");
    }
  }

  Brought authorizer(String logicalName, Properties properties) {
    String type = properties.text("AuthorizerType");
    properties.ignore("Name");
    switch (type) {
      case "REQUEST" -> {
        properties.ignore("ApiId");
        authorizers.put(
            logicalName,
            new WebSocketApiSpec.Authorizer(
                functionArn(properties.text("AuthorizerUri")), properties.texts("IdentitySource")));
      }
      case "JWT" ->
          tokenAuthorizers.put(
              logicalName,
              new TokenAuthorizer(properties.text("ApiId"), tokenAuthorizer(properties)));
      default -> throw properties.error("AuthorizerType", type + " (expected: REQUEST or JWT)");
    }
    return Brought.of(logicalName);
  }

  private Optional<JwtAuthorizer> tokenAuthorizer(Properties properties) {
    if (part(properties).webSocket) {
      throw properties.error("AuthorizerType", "JWT (expected: REQUEST, for a WebSocket API)");
    }
    List<String> sources = properties.texts("IdentitySource");
    if (!sources.equals(List.of(AUTHORIZATION))) {
      throw properties.error("IdentitySource", sources + " (expected: " + AUTHORIZATION + ")");
    }
    Properties jwt =
        properties
            .object("JwtConfiguration")
            .orElseThrow(
                () -> properties.error("JwtConfiguration", "absent (expected: an object)"));
    String issuer = jwt.text("Issuer");
    if (!issuer.startsWith("https://")) {
      throw jwt.error("Issuer", issuer + " (expected: https://…)");
    }
    List<String> audiences = jwt.texts("Audience");
    if (audiences.isEmpty()) {
      throw jwt.error("Audience", "absent (expected: at least one)");
    }
    if (openIssuers.test(issuer)) {
      return Optional.empty();
    }
    issuers.add(issuer);
    IssuerKeys keys = new IssuerKeys(issuer, Optional.ofNullable(keySets.get(issuer)), clock);
    return Optional.of(new JwtAuthorizer(issuer, audiences, keys, clock));
  }

  Brought route(String logicalName, Properties properties) {
    Part api = part(properties);
    String target = properties.text("Target").replaceFirst("^integrations/", "");
    IntegrationPart integration = integrations.get(target);
    if (integration == null || (!api.webSocket && integration.function().isEmpty())) {
      throw properties.error("Target", target + " (expected: an integration of the template)");
    }
    HttpApiSpec.Authorization authorization = authorization(api, properties);
    properties.ignore("OperationName", "RouteResponseSelectionExpression");
    Route route = new Route(properties.text("RouteKey"), integration, authorization);
    api.routes.add(route);
    routes.put(logicalName, route);
    return Brought.of(logicalName);
  }

  private HttpApiSpec.Authorization authorization(Part api, Properties properties) {
    String type = properties.optionalText("AuthorizationType").orElse("NONE");
    switch (type) {
      case "NONE" -> {
        return new HttpApiSpec.Authorization.None();
      }
      case "AWS_IAM" -> {
        return new HttpApiSpec.Authorization.Iam();
      }
      case "JWT" -> {
        String id = properties.text("AuthorizerId");
        TokenAuthorizer found = tokenAuthorizers.get(id);
        if (found == null || !found.api().equals(properties.text("ApiId"))) {
          throw properties.error(
              "AuthorizerId", id + " (expected: an authorizer of type JWT of the route's API)");
        }
        List<String> scopes = properties.texts("AuthorizationScopes");
        return found
            .authorizer()
            .<HttpApiSpec.Authorization>map(
                authorizer -> new HttpApiSpec.Authorization.Jwt(authorizer, scopes))
            .orElseGet(HttpApiSpec.Authorization.None::new);
      }
      case "CUSTOM" -> {
        String id = properties.text("AuthorizerId");
        if (!api.webSocket || !authorizers.containsKey(id)) {
          throw properties.error(
              "AuthorizerId", id + " (expected: an authorizer of a WebSocket API)");
        }
        api.authorizer = Optional.ofNullable(authorizers.get(id));
        return new HttpApiSpec.Authorization.None();
      }
      default ->
          throw properties.error(
              "AuthorizationType", type + " (expected: NONE, AWS_IAM, JWT or CUSTOM)");
    }
  }

  Brought stage(String logicalName, Properties properties) {
    String name = properties.text("StageName");
    Part api = part(properties);
    if (!api.webSocket && !name.equals("$default")) {
      throw properties.error("StageName", name + " (expected: $default)");
    }
    api.stages.add(name);
    api.stageVariables = properties.textMap("StageVariables");
    properties.ignore(
        "AccessLogSettings",
        "AutoDeploy",
        "DefaultRouteSettings",
        "Description",
        "RouteSettings",
        "Tags");
    return Brought.of(name);
  }

  /**
   * Refuses a function behind a route or an authorizer that API Gateway may not invoke for it.
   *
   * @param invocable whether it may invoke a function, by ARN, for a part of an API, as the last
   *     part of an ARN names it: {@code api/stage/route} or {@code api/authorizers/authorizer}
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/arn-format-reference.html">ARNs
   *     of APIs</a>
   */
  void requireInvocable(BiPredicate<String, String> invocable) {
    apis.forEach(
        (id, api) -> {
          for (Route route : api.routes) {
            String parts = route.key.replaceFirst(" ", "");
            route
                .integration
                .function()
                .ifPresent(
                    function ->
                        require(invocable, function, id + "/" + api.stages.get(0) + "/" + parts));
          }
          api.authorizer.ifPresent(
              authorizer ->
                  require(
                      invocable, authorizer.function(), id + "/authorizers/" + nameOf(authorizer)));
        });
  }

  private String nameOf(WebSocketApiSpec.Authorizer authorizer) {
    return authorizers.entrySet().stream()
        .filter(entry -> entry.getValue().equals(authorizer))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  private static void require(
      BiPredicate<String, String> invocable, String function, String source) {
    if (!invocable.test(function, source)) {
      throw new IllegalStateException(
          "API Gateway may not invoke "
              + function
              + " for "
              + source
              + " (expected: an AWS::Lambda::Permission that lets it; on AWS each request would be"
              + " answered with 500)");
    }
  }

  /**
   * Serves all APIs that were gathered and have a stage.
   *
   * @throws IllegalStateException if one has none, or if keys were told of an issuer that no
   *     authorizer names
   */
  void serve(Gateway server) {
    for (String issuer : keySets.keySet()) {
      if (!issuers.contains(issuer)) {
        throw new IllegalStateException(
            "keys of issuer "
                + issuer
                + " (expected: an issuer that an authorizer of the template names: "
                + issuers
                + ")");
      }
    }
    apis.forEach(
        (id, api) -> {
          if (api.stages.size() != 1) {
            throw new IllegalStateException(
                "API " + id + " has stages " + api.stages + " (expected: one)");
          }
          if (api.webSocket) {
            Map<String, WebSocketApiSpec.Route> served = new HashMap<>();
            api.routes.forEach(
                route ->
                    served.put(
                        route.key,
                        new WebSocketApiSpec.Route(
                            route.integration.integration(), route.answers)));
            server.add(
                new WebSocketApiSpec(
                    id,
                    api.stages.get(0),
                    api.routeSelection,
                    served,
                    api.authorizer,
                    api.stageVariables));
          } else {
            server.add(
                new HttpApiSpec(
                    id,
                    api.routes.stream()
                        .map(
                            route ->
                                new HttpApiSpec.Route(
                                    route.key,
                                    route.integration.function().orElseThrow(),
                                    route.authorization))
                        .toList(),
                    api.cors));
          }
        });
  }

  private Part part(Properties properties) {
    String id = properties.text("ApiId");
    Part part = apis.get(id);
    if (part == null) {
      throw properties.error("ApiId", id + " (expected: an API of the template)");
    }
    return part;
  }

  private static Cors cors(Properties cors) {
    return new Cors(
        cors.texts("AllowOrigins"),
        cors.texts("AllowMethods"),
        cors.texts("AllowHeaders"),
        cors.texts("ExposeHeaders"),
        cors.integer("MaxAge").map(OptionalLong::of).orElse(OptionalLong.empty()),
        cors.optionalText("AllowCredentials").map(Boolean::parseBoolean).orElse(false));
  }

  /**
   * The function in {@code
   * arn:aws:apigateway:REGION:lambda:path/2015-03-31/functions/ARN/invocations}.
   */
  private static String functionArn(String uri) {
    return uri.replaceFirst("^arn:[^:]+:apigateway:.*/functions/", "")
        .replaceFirst("/invocations$", "");
  }
}

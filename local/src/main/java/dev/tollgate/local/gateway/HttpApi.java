package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HeaderMap;
import io.undertow.util.HeaderValues;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * An HTTP API: turns a request into an event of payload format 2.0 and the function's answer into a
 * response (API Gateway Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs").
 *
 * <p>A function that takes too long is answered with 503, as observed on AWS
 * (github.com/serverless/serverless/issues/11222), although the knowledge center promises 504.
 */
final class HttpApi implements Api {
  /** "Quotas for configuring and running an HTTP API". */
  private static final int MAX_BODY_BYTES = 10 * 1024 * 1024;

  /**
   * The total size of request line and header values, of the same page. It does not say what a
   * larger request is answered with, and no observation was found; 431 is the status that RFC 6585
   * has for this.
   */
  private static final int MAX_HEADER_BYTES = 10_240;

  private static final HttpString REQUEST_ID = new HttpString("apigw-requestid");

  private static final String TEXT =
      "(?i)text/.*|application/(.*\\+)?(json|xml)\\b.*|application/javascript\\b.*";

  private final String id;
  private final List<HttpRoute> routes;
  private final Predicate<String> throttle;
  private final Optional<Cors> cors;
  private final Functions functions;
  private final Environment environment;
  private final Consumer<String> log;

  HttpApi(
      String id,
      List<HttpRoute> routes,
      Predicate<String> throttle,
      Optional<Cors> cors,
      Functions functions,
      Environment environment,
      Consumer<String> log) {
    this.id = id;
    this.routes = routes.stream().sorted(Comparator.comparing(route -> route.precedence)).toList();
    this.throttle = throttle;
    this.cors = cors;
    this.functions = functions;
    this.environment = environment;
    this.log = log;
  }

  @Override
  public boolean allows(String origin) {
    return cors.filter(settings -> settings.allows(origin)).isPresent();
  }

  @Override
  public void handle(HttpServerExchange exchange, String path) throws IOException {
    if (headerBytes(exchange, path) > MAX_HEADER_BYTES) {
      Requests.refuse(exchange, 431);
      return;
    }
    if (cors(exchange)) {
      exchange.setStatusCode(204).endExchange();
      return;
    }
    String routed = routed(path);
    if (Requests.isMalformed(routed)) {
      Requests.refuse(exchange, 400);
      return;
    }
    for (HttpRoute route : routes) {
      Optional<Map<String, String>> variables =
          route.match(exchange.getRequestMethod().toString(), routed);
      if (variables.isPresent()) {
        if (!throttle.test(route.routeKey)) {
          exchange.getResponseHeaders().put(REQUEST_ID, Requests.newId());
          Requests.refuse(exchange, 429);
          return;
        }
        Optional<ObjectNode> caller = caller(exchange, route);
        if (caller.isPresent()) {
          integrate(exchange, route, Requests.decode(routed), variables.get(), caller.get());
        }
        return;
      }
    }
    Requests.refuse(exchange, 404);
  }

  /**
   * The size of the request line and of all header values.
   *
   * @param path the path as on AWS, where the API's id is no part of it
   */
  private static int headerBytes(HttpServerExchange exchange, String path) {
    String query = exchange.getQueryString();
    int size =
        "%s %s%s %s"
            .formatted(
                exchange.getRequestMethod(),
                path,
                query.isEmpty() ? "" : "?" + query,
                exchange.getProtocol())
            .length();
    for (HeaderValues values : exchange.getRequestHeaders()) {
      for (String value : values) {
        size += value.length();
      }
    }
    return size;
  }

  /**
   * The path that selects a route: decoded once and cut at a question mark. An encoded slash
   * separates segments. What an event contains is decoded once more, although its name is {@code
   * rawPath}; {@code rawQueryString} is not decoded.
   *
   * <p>Observed on AWS in 2026 (github.com/hotsock/voker, {@code
   * vokerhttp/testdata/ingress-paths.json}): {@code a%2Fb} and {@code a%252Fb} arrive as {@code
   * a/b}, {@code a%3Fb} as {@code a}, {@code a%253Fb} as {@code a?b}, and {@code a%25b} is answered
   * with 400. That routes are selected between the two steps is an inference from a 404 for {@code
   * a%2Fb} where a route has one segment (github.com/aws/aws-lambda-dotnet/pull/1901). Nothing is
   * known of bytes that are not UTF-8; here they become U+FFFD.
   */
  private static String routed(String path) {
    String decoded = Requests.decode(path);
    int query = decoded.indexOf('?');
    String cut = query < 0 ? decoded : decoded.substring(0, query);
    return cut.isEmpty() ? "/" : cut;
  }

  /** The caller, for the event; absent if the request was refused. */
  private Optional<ObjectNode> caller(HttpServerExchange exchange, HttpRoute route) {
    Optional<String> header =
        Optional.ofNullable(exchange.getRequestHeaders().get(Headers.AUTHORIZATION))
            .map(values -> String.join(",", values));
    Decision decision = route.authorizer.decide(header);
    if (decision instanceof Decision.Refused refused) {
      if (!refused.trouble().isEmpty()) {
        log.accept(route.routeKey + ": keys: " + refused.trouble());
      }
      exchange
          .getResponseHeaders()
          .put(REQUEST_ID, Requests.newId())
          .put(Headers.WWW_AUTHENTICATE, refused.challenge());
      Requests.refuse(exchange, refused.status());
      return Optional.empty();
    }
    return Optional.of(((Decision.Admitted) decision).context());
  }

  private void integrate(
      HttpServerExchange exchange,
      HttpRoute route,
      String rawPath,
      Map<String, String> variables,
      ObjectNode caller)
      throws IOException {
    exchange.startBlocking();
    byte[] body =
        exchange.getRequestContentLength() > MAX_BODY_BYTES
            ? new byte[MAX_BODY_BYTES + 1]
            : exchange.getInputStream().readNBytes(MAX_BODY_BYTES + 1);
    if (body.length > MAX_BODY_BYTES) {
      Requests.refuse(exchange, 413);
      return;
    }
    String requestId = Requests.newId();
    exchange.getResponseHeaders().put(REQUEST_ID, requestId);
    byte[] event = Json.bytes(event(exchange, route, rawPath, variables, caller, body, requestId));
    Optional<InvocationResult> end =
        functions.invoke(route.integration.arn(), event, route.integration.timeout());
    if (end.isEmpty()) {
      Requests.refuse(exchange, 503);
    } else if (!(end.get() instanceof InvocationResult.Success success)
        || !respond(exchange, success.payload())) {
      log.accept(route.routeKey + ": " + end.get());
      Requests.refuse(exchange, 500);
    }
  }

  private ObjectNode event(
      HttpServerExchange exchange,
      HttpRoute route,
      String rawPath,
      Map<String, String> variables,
      ObjectNode caller,
      byte[] body,
      String requestId) {
    Instant now = environment.clock().instant();
    Map<String, List<String>> headers = Requests.headers(exchange);
    List<String> cookies = headers.remove("Cookie");

    ObjectNode event = Json.object();
    event.put("version", "2.0").put("routeKey", route.routeKey).put("rawPath", rawPath);
    event.put("rawQueryString", exchange.getQueryString());
    if (cookies != null) {
      event.set(
          "cookies",
          Json.MAPPER.valueToTree(
              cookies.stream().flatMap(line -> List.of(line.split(";\\s*")).stream()).toList()));
    }
    event.set("headers", joined(headers, name -> name.toLowerCase(Locale.ROOT)));
    if (!exchange.getQueryParameters().isEmpty()) {
      event.set("queryStringParameters", joined(Requests.query(exchange), name -> name));
    }
    if (!variables.isEmpty()) {
      event.set("pathParameters", Json.MAPPER.valueToTree(variables));
    }
    ObjectNode context = event.putObject("requestContext");
    context.put("accountId", environment.accountId()).put("apiId", id);
    if (!caller.isEmpty()) {
      context.set("authorizer", caller);
    }
    context.put("domainName", Requests.domainName(environment, id)).put("domainPrefix", id);
    context
        .putObject("http")
        .put("method", exchange.getRequestMethod().toString())
        .put("path", rawPath)
        .put("protocol", exchange.getProtocol().toString())
        .put("sourceIp", Requests.sourceIp(exchange))
        .put("userAgent", Requests.userAgent(exchange));
    context
        .put("requestId", requestId)
        .put("routeKey", route.routeKey)
        .put("stage", "$default")
        .put("time", Requests.time(now))
        .put("timeEpoch", now.toEpochMilli());
    String contentType = exchange.getRequestHeaders().getFirst(Headers.CONTENT_TYPE);
    boolean text = contentType == null || contentType.matches(TEXT);
    if (body.length > 0) {
      event.put(
          "body",
          text
              ? new String(body, StandardCharsets.UTF_8)
              : Base64.getEncoder().encodeToString(body));
    }
    event.put("isBase64Encoded", body.length > 0 && !text);
    return event;
  }

  private static ObjectNode joined(Map<String, List<String>> values, UnaryOperator<String> naming) {
    ObjectNode joined = Json.object();
    values.forEach((name, all) -> joined.put(naming.apply(name), String.join(",", all)));
    return joined;
  }

  /** Sends a function's answer; false if it is malformed. */
  private boolean respond(HttpServerExchange exchange, byte[] payload) {
    JsonNode answer;
    try {
      answer = Json.read(payload);
    } catch (IOException e) {
      return false;
    }
    if (!answer.has("statusCode")) {
      String body = answer.isTextual() ? answer.textValue() : answer.toString();
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
      exchange.getResponseSender().send(body);
      return true;
    }
    int status = answer.path("statusCode").asInt();
    JsonNode headers = answer.path("headers");
    JsonNode body = answer.path("body");
    if (status < 100 || status > 599 || body.isContainerNode() || headers.isArray()) {
      return false;
    }
    byte[] bytes;
    try {
      bytes =
          answer.path("isBase64Encoded").asBoolean()
              ? Base64.getDecoder().decode(body.asText())
              : (body.isNull() ? "" : body.asText()).getBytes(StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return false;
    }
    HeaderMap response = exchange.setStatusCode(status).getResponseHeaders();
    response.put(Headers.CONTENT_TYPE, "text/plain;charset=UTF-8");
    for (var header : headers.properties()) {
      String name = header.getKey().toLowerCase(Locale.ROOT);
      boolean owned =
          name.equals("content-length")
              || name.equals("transfer-encoding")
              || (name.startsWith("access-control-") && cors.isPresent());
      if (!owned) {
        response.put(new HttpString(header.getKey()), header.getValue().asText());
      }
    }
    answer.path("cookies").forEach(cookie -> response.add(Headers.SET_COOKIE, cookie.asText()));
    exchange.getResponseSender().send(ByteBuffer.wrap(bytes));
    return true;
  }

  /** Adds the CORS headers; true for a preflight request. */
  private boolean cors(HttpServerExchange exchange) {
    String origin = exchange.getRequestHeaders().getFirst(Headers.ORIGIN);
    if (cors.isEmpty() || origin == null) {
      return false;
    }
    Cors settings = cors.get();
    boolean preflight =
        exchange.getRequestMethod().toString().equals("OPTIONS")
            && exchange.getRequestHeaders().contains("Access-Control-Request-Method");
    if (settings.allows(origin)) {
      HeaderMap headers = exchange.getResponseHeaders();
      setAccess(
          headers, "Allow-Origin", List.of(settings.allowOrigins().contains("*") ? "*" : origin));
      setAccess(
          headers, "Allow-Credentials", settings.allowCredentials() ? List.of("true") : List.of());
      if (preflight) {
        setAccess(headers, "Allow-Methods", settings.allowMethods());
        setAccess(headers, "Allow-Headers", settings.allowHeaders());
        setAccess(
            headers,
            "Max-Age",
            settings.maxAgeSeconds().stream().mapToObj(Integer::toString).toList());
      } else {
        setAccess(headers, "Expose-Headers", settings.exposeHeaders());
      }
      headers.put(Headers.VARY, "Origin");
    }
    return preflight;
  }

  private static void setAccess(HeaderMap headers, String name, List<String> values) {
    if (!values.isEmpty()) {
      headers.put(new HttpString("Access-Control-" + name), String.join(",", values));
    }
  }
}

package dev.tollgate.local.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpServerExchange;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the operation of a request and the resource concerned. */
final class Operations {
  private static final Pattern REST_PATH =
      Pattern.compile(
          "/(?:2015-03-31/)?(functions|event-source-mappings|schedules|schedule-groups|tags)(?:/([^/]+))?(?:/(invocations|code|configuration))?/?");
  private static final Pattern ACCOUNT_SETTINGS_PATH =
      Pattern.compile("/2016-08-19/account-settings/?");
  private static final Pattern CONNECTIONS_PATH = Pattern.compile(".*/@connections/([^/]+)");
  private static final Map<String, String> CONNECTION_VERBS =
      Map.of("POST", "PostTo", "GET", "Get", "DELETE", "Delete");
  private static final Map<String, String> VERBS =
      Map.of("POST", "Create", "GET", "Get", "PUT", "Update", "DELETE", "Delete");

  private static final Map<String, String> X_RAY_PATHS =
      Map.of("/Traces", "BatchGetTraces", "/TraceSummaries", "GetTraceSummaries");

  private static final Map<String, String> NOUNS =
      Map.of(
          "functions", "Function",
          "event-source-mappings", "EventSourceMapping",
          "schedules", "Schedule",
          "schedule-groups", "ScheduleGroup");
  private static final Map<String, String> TAG_OPERATIONS =
      Map.of("POST", "TagResource", "GET", "ListTagsForResource", "DELETE", "UntagResource");
  private static final Map<String, String> PARTS =
      Map.of("code", "Code", "configuration", "Configuration");

  private Operations() {}

  static Call understand(
      String service,
      HttpServerExchange exchange,
      AccessKeys.Issued caller,
      Instant now,
      String text) {
    String body = QueryProtocol.isInQuery(exchange) ? exchange.getQueryString() : text;
    Named named = named(exchange, body);
    Map<String, String> query = new HashMap<>();
    exchange.getQueryParameters().forEach((name, values) -> query.put(name, values.getFirst()));
    return new Call(
        service,
        named.operation(),
        caller.principal(),
        caller.key().accessKeyId(),
        now,
        named.resource(),
        exchange.getRequestMethod().toString(),
        exchange.getRequestPath(),
        query,
        body);
  }

  private record Named(String operation, Optional<String> resource) {}

  private static Named named(HttpServerExchange exchange, String body) {
    String target = exchange.getRequestHeaders().getFirst("X-Amz-Target");
    if (target != null) {
      return new Named(
          target.substring(target.indexOf('.') + 1), resource(Json.readOrMissing(body)));
    }
    Map<String, String> form = QueryProtocol.parameters(body);
    String path = exchange.getRequestPath();
    if (form.containsKey("Action")) {
      // A form may name a queue by the path alone.
      String resource =
          form.getOrDefault("RoleArn", form.getOrDefault("QueueUrl", lastSegment(path)));
      return new Named(
          form.getOrDefault("Action", ""),
          Optional.of(lastSegment(resource)).filter(name -> !name.isEmpty()));
    }
    Optional<String> operation = RpcCbor.operation(path);
    if (operation.isPresent()) {
      return new Named(operation.get(), Optional.empty());
    }
    String method = exchange.getRequestMethod().toString();
    Matcher connections = CONNECTIONS_PATH.matcher(path);
    if (connections.matches()) {
      String verb = CONNECTION_VERBS.getOrDefault(method, method);
      return new Named(verb + "Connection", Optional.of(connections.group(1)));
    }
    if (ACCOUNT_SETTINGS_PATH.matcher(path).matches()) {
      return new Named("GetAccountSettings", Optional.empty());
    }
    if (method.equals("POST") && X_RAY_PATHS.containsKey(path)) {
      return new Named(X_RAY_PATHS.getOrDefault(path, path), Optional.empty());
    }
    // As the client encoded it, because a name may be an ARN with slashes.
    Matcher rest = REST_PATH.matcher(exchange.getRequestURI());
    if (!rest.matches()) {
      return new Named(method + " " + path, Optional.empty());
    }
    return new Named(
        restOperation(method, rest),
        Optional.ofNullable(rest.group(2))
            .map(name -> lastSegment(URLDecoder.decode(name, StandardCharsets.UTF_8))));
  }

  private static String restOperation(String method, Matcher path) {
    String noun = NOUNS.getOrDefault(path.group(1), "");
    String part = Objects.requireNonNullElse(path.group(3), "");
    if (part.equals("invocations")) {
      return "Invoke";
    }
    if (path.group(1).equals("tags")) {
      return TAG_OPERATIONS.getOrDefault(method, method);
    }
    return path.group(2) != null || method.equals("POST")
        ? VERBS.getOrDefault(method, method) + noun + PARTS.getOrDefault(part, "")
        : "List" + noun + "s";
  }

  private static Optional<String> resource(JsonNode body) {
    for (String name : new String[] {"TableName", "QueueUrl", "QueueName", "StreamArn"}) {
      if (body.path(name).isTextual()) {
        return Optional.of(lastSegment(body.get(name).asText()));
      }
    }
    TreeSet<String> tables = new TreeSet<>();
    body.path("RequestItems").fieldNames().forEachRemaining(tables::add);
    body.path("TransactItems").findValues("TableName").forEach(name -> tables.add(name.asText()));
    return tables.isEmpty() ? Optional.empty() : Optional.of(String.join(",", tables));
  }

  private static String lastSegment(String text) {
    return text.substring(Math.max(text.lastIndexOf('/'), text.lastIndexOf(':')) + 1);
  }
}

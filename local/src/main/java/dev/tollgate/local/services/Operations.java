package dev.tollgate.local.services;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.undertow.server.HttpServerExchange;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads from a request which operation it is, and on what. */
final class Operations {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern REST_PATH =
      Pattern.compile(
          "/(?:2015-03-31/)?(functions|schedules|schedule-groups|tags)(?:/([^/]+))?(/invocations)?/?");
  private static final Pattern CONNECTIONS_PATH = Pattern.compile(".*/@connections/([^/]+)");
  private static final Map<String, String> CONNECTION_VERBS =
      Map.of("POST", "PostTo", "GET", "Get", "DELETE", "Delete");
  private static final Map<String, String> SCHEDULER_VERBS =
      Map.of("POST", "Create", "GET", "Get", "PUT", "Update", "DELETE", "Delete");

  private Operations() {}

  static Call understand(
      String service, HttpServerExchange exchange, Principal principal, Instant now, String body) {
    String target = exchange.getRequestHeaders().getFirst("X-Amz-Target");
    if (target != null) {
      String operation = target.substring(target.indexOf('.') + 1);
      return new Call(service, operation, principal, now, resource(parse(body)), body);
    }
    Map<String, String> form = Form.parse(body);
    if (form.containsKey("Action")) {
      Optional<String> resource =
          Optional.ofNullable(form.getOrDefault("RoleArn", form.get("QueueUrl")))
              .map(Operations::lastSegment);
      return new Call(service, form.getOrDefault("Action", ""), principal, now, resource, body);
    }
    Matcher connections = CONNECTIONS_PATH.matcher(exchange.getRequestPath());
    if (connections.matches()) {
      return connections(
          connections, service, exchange.getRequestMethod().toString(), principal, now, body);
    }
    Matcher rest = REST_PATH.matcher(exchange.getRequestPath());
    String method = exchange.getRequestMethod().toString();
    if (!rest.matches()) {
      return new Call(
          service,
          method + " " + exchange.getRequestPath(),
          principal,
          now,
          Optional.empty(),
          body);
    }
    Optional<String> name = Optional.ofNullable(rest.group(2)).map(Operations::lastSegment);
    return new Call(
        service, restOperation(method, rest, name.isPresent()), principal, now, name, body);
  }

  private static Call connections(
      Matcher path, String service, String method, Principal principal, Instant now, String body) {
    String verb = CONNECTION_VERBS.getOrDefault(method, method);
    return new Call(service, verb + "Connection", principal, now, Optional.of(path.group(1)), body);
  }

  private static String restOperation(String method, Matcher path, boolean named) {
    String noun =
        switch (path.group(1)) {
          case "functions" -> "Function";
          case "schedules" -> "Schedule";
          case "schedule-groups" -> "ScheduleGroup";
          default -> "Tags";
        };
    if (path.group(3) != null) {
      return "Invoke";
    }
    return named ? SCHEDULER_VERBS.getOrDefault(method, method) + noun : "List" + noun + "s";
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

  /** The body as JSON, or nothing if it is none: then the service itself will complain. */
  private static JsonNode parse(String body) {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      return MissingNode.getInstance();
    }
  }
}

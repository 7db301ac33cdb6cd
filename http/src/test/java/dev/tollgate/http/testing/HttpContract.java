package dev.tollgate.http.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.networknt.schema.SpecVersion;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks exchanges against an OpenAPI 3.1 document: every status, header, media type and member
 * must be documented, and no required one may be missing. Requests are checked too, unless they
 * were refused as invalid (400, 413, 415).
 */
public final class HttpContract {
  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "options", "head", "patch", "trace");
  private static final Set<Integer> REFUSALS_OF_THE_REQUEST = Set.of(400, 413, 415);

  /** Headers of the connection, and those that info.description documents for all responses. */
  private static final Set<String> OF_ALL_ANSWERS =
      Set.of(
          "connection",
          "content-length",
          "content-type",
          "date",
          "transfer-encoding",
          "keep-alive",
          "apigw-requestid",
          "access-control-allow-origin",
          "access-control-expose-headers",
          "vary");

  private static final Pattern BROKEN_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

  private static final String UNROUTED = "/components/responses/NoRoute";

  private final Specification specification;
  private final List<Operation> operations = new ArrayList<>();
  private final Set<String> seen = new ConcurrentSkipListSet<>();

  private HttpContract(Specification specification) {
    this.specification = specification;
    for (Map.Entry<String, JsonNode> path : specification.root().path("paths").properties()) {
      for (Map.Entry<String, JsonNode> member : path.getValue().properties()) {
        if (METHODS.contains(member.getKey())) {
          operations.add(
              new Operation(
                  member.getKey().toUpperCase(Locale.ROOT),
                  path.getKey(),
                  path.getValue().path("parameters"),
                  member.getValue()));
        }
      }
    }
  }

  /** The contract in a file. */
  public static HttpContract of(Path file) {
    return new HttpContract(Specification.of(file, SpecVersion.VersionFlag.V202012));
  }

  static HttpContract of(String yaml) {
    return new HttpContract(Specification.of(yaml, SpecVersion.VersionFlag.V202012));
  }

  /** A schema of the document. */
  public JsonNode schema(String name) {
    return specification.referred("#/components/schemas/" + name);
  }

  /** All operations, such as {@code GET /tiers/{tier}}. */
  public Set<String> operations() {
    return operations.stream().map(Operation::key).collect(Collectors.toCollection(TreeSet::new));
  }

  /** All operations with each of their statuses, such as {@code GET /tiers 200}. */
  public Set<String> answers() {
    Set<String> answers = new TreeSet<>();
    for (Operation operation : operations) {
      operation
          .node()
          .path("responses")
          .fieldNames()
          .forEachRemaining(status -> answers.add(operation.key() + " " + status));
    }
    return answers;
  }

  /** The elements of {@link #answers} that occurred in checked exchanges. */
  public Set<String> seen() {
    return Set.copyOf(seen);
  }

  /** Clears {@link #seen}. */
  public void forget() {
    seen.clear();
  }

  /**
   * Checks an exchange.
   *
   * @throws AssertionError if it differs from the document; the message lists the differences
   */
  public void check(Exchange exchange) {
    List<String> flaws = new ArrayList<>();
    Optional<Operation> found = operation(exchange);
    if (found.isEmpty()) {
      int expected = routed(exchange).isPresent() ? 404 : 400;
      if (exchange.status() != expected) {
        flaws.add(
            "status: %d (expected: %d, as it is no route)".formatted(exchange.status(), expected));
      }
      flaws.addAll(flawsOfAnswer(specification.at(UNROUTED), exchange));
    } else {
      Operation operation = found.get();
      JsonNode answer =
          operation.node().path("responses").path(Integer.toString(exchange.status()));
      if (answer.isMissingNode()) {
        flaws.add("status: " + exchange.status() + " is not documented");
      } else {
        seen.add(operation.key() + " " + exchange.status());
        flaws.addAll(flawsOfAnswer(specification.resolved(answer), exchange));
      }
      if (!REFUSALS_OF_THE_REQUEST.contains(exchange.status())) {
        flaws.addAll(flawsOfRequest(operation, exchange));
      }
    }
    if (!flaws.isEmpty()) {
      throw new AssertionError(
          "against the contract: " + String.join("; ", flaws) + "\n  in " + exchange);
    }
  }

  /** The differences between a request and the document; none if the route is unknown. */
  public List<String> flawsOfRequest(Exchange exchange) {
    return operation(exchange).map(found -> flawsOfRequest(found, exchange)).orElse(List.of());
  }

  /**
   * The path that selects a route in API Gateway: decoded once and cut at a question mark. Its
   * segments are decoded once more.
   *
   * @return empty if the second decoding is impossible, so that API Gateway answers 400
   */
  private static Optional<String> routed(Exchange exchange) {
    String path = exchange.target().getPath().split("\\?", 2)[0];
    return Optional.of(path).filter(once -> !BROKEN_ESCAPE.matcher(once).find());
  }

  private Optional<Operation> operation(Exchange exchange) {
    return operations.stream()
        .filter(operation -> operation.method().equals(exchange.method()))
        .filter(operation -> operation.match(exchange).isPresent())
        .min((one, other) -> one.path().compareTo(other.path()));
  }

  private List<String> flawsOfAnswer(JsonNode answer, Exchange exchange) {
    List<String> flaws = new ArrayList<>();
    Map<String, JsonNode> documented = new HashMap<>();
    answer
        .path("headers")
        .properties()
        .forEach(
            header ->
                documented.put(
                    header.getKey().toLowerCase(Locale.ROOT),
                    specification.resolved(header.getValue())));
    documented.forEach(
        (name, header) -> {
          String value = exchange.headers().get(name);
          if (value != null) {
            flaws.addAll(flawsOfText("header " + name, header.path("schema"), value));
          } else if (header.path("required").asBoolean()) {
            flaws.add("header " + name + " is missing");
          }
        });
    exchange.headers().keySet().stream()
        .filter(name -> !documented.containsKey(name) && !OF_ALL_ANSWERS.contains(name))
        .forEach(name -> flaws.add("header " + name + " is not documented"));
    if (answer.has("content")) {
      flaws.addAll(
          flawsOfBody(
              "answer",
              answer.path("content"),
              exchange.headers().getOrDefault("content-type", "none"),
              exchange.body()));
    } else if (!exchange.body().isEmpty()) {
      flaws.add("answer: a body is not documented");
    }
    return flaws;
  }

  private List<String> flawsOfRequest(Operation operation, Exchange exchange) {
    List<String> flaws = new ArrayList<>();
    Map<String, String> path = operation.match(exchange).orElseThrow();
    Map<String, String> query = query(exchange);
    Set<String> inQuery = new TreeSet<>();
    for (JsonNode each : operation.parameters()) {
      JsonNode parameter = specification.resolved(each);
      String name = parameter.path("name").asText();
      Map<String, String> place =
          switch (parameter.path("in").asText()) {
            case "path" -> path;
            case "query" -> query;
            default -> exchange.requestHeaders();
          };
      boolean isHeader = place == exchange.requestHeaders();
      String value = place.get(isHeader ? name.toLowerCase(Locale.ROOT) : name);
      if (place == query) {
        inQuery.add(name);
      }
      if (value != null) {
        flaws.addAll(flawsOfText("parameter " + name, parameter.path("schema"), value));
      } else if (parameter.path("required").asBoolean()) {
        flaws.add("parameter " + name + " is missing");
      }
    }
    query.keySet().stream()
        .filter(name -> !inQuery.contains(name) && exchange.status() < 400)
        .forEach(name -> flaws.add("parameter " + name + " is not documented"));
    JsonNode body = specification.resolved(operation.node().path("requestBody"));
    boolean mayBeLeftOut = !body.path("required").asBoolean();
    if (mayBeLeftOut && exchange.requestBody().isEmpty()) {
      return flaws;
    }
    if (!body.isMissingNode()) {
      flaws.addAll(
          flawsOfBody(
              "request",
              body.path("content"),
              exchange.requestHeaders().getOrDefault("content-type", "none"),
              exchange.requestBody()));
    } else {
      flaws.add("request: a body is not documented");
    }
    return flaws;
  }

  private static Map<String, String> query(Exchange exchange) {
    Map<String, String> query = new LinkedHashMap<>();
    String raw = exchange.target().getRawQuery();
    if (raw != null && !raw.isEmpty()) {
      for (String pair : raw.split("&", -1)) {
        String[] parts = pair.split("=", 2);
        query.merge(
            decoded(parts[0]), parts.length > 1 ? decoded(parts[1]) : "", (a, b) -> a + "," + b);
      }
    }
    return query;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  private List<String> flawsOfBody(String what, JsonNode content, String mediaType, String body) {
    // Media types are case-insensitive (RFC 9110, section 8.3.1).
    String type = mediaType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    JsonNode documented = content.path(type);
    if (documented.isMissingNode()) {
      return List.of(what + ": media type " + type + " is not documented");
    }
    Optional<JsonNode> value = Specification.uniqueJson(body);
    return value.isEmpty()
        ? List.of(what + ": no JSON with unique members: " + body)
        : prefixed(what, specification.flaws(documented.path("schema"), value.get()));
  }

  /** The text of a parameter or header as the type that its schema requires. */
  private List<String> flawsOfText(String what, JsonNode schema, String text) {
    List<String> asText = specification.flaws(schema, TextNode.valueOf(text));
    boolean valid =
        asText.isEmpty()
            || Specification.json(text)
                .filter(value -> value.isNumber() || value.isBoolean())
                .filter(value -> specification.flaws(schema, value).isEmpty())
                .isPresent();
    return valid ? List.of() : prefixed(what + " " + text, asText);
  }

  private static List<String> prefixed(String what, List<String> flaws) {
    return flaws.stream().map(flaw -> what + ": " + flaw).toList();
  }

  /** An operation with its path parameters. */
  private record Operation(String method, String path, JsonNode ofPath, JsonNode node) {
    String key() {
      return method + " " + path;
    }

    List<JsonNode> parameters() {
      List<JsonNode> parameters = new ArrayList<>();
      ofPath.forEach(parameters::add);
      node.path("parameters").forEach(parameters::add);
      return parameters;
    }

    /** The path parameters of a path; empty if the path does not match this operation. */
    Optional<Map<String, String>> match(Exchange exchange) {
      List<String> names = new ArrayList<>();
      Matcher name = Pattern.compile("\\{([^}]+)}").matcher(path);
      while (name.find()) {
        names.add(name.group(1));
      }
      Matcher parts =
          Pattern.compile(path.replaceAll("\\{[^}]+}", "([^/]+)"))
              .matcher(routed(exchange).orElse(""));
      if (!parts.matches()) {
        return Optional.empty();
      }
      Map<String, String> values = new HashMap<>();
      for (int i = 0; i < names.size(); i++) {
        values.put(names.get(i), decoded(parts.group(i + 1).replace("+", "%2B")));
      }
      return Optional.of(values);
    }
  }
}

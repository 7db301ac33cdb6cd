package dev.tollgate.cli.contract;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.networknt.schema.SpecVersion.VersionFlag;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * An OpenAPI document. Headers that it does not name are allowed, because proxies on the way add
 * headers.
 */
public final class HttpContract {
  private final Specification specification;

  private HttpContract(Specification specification) {
    this.specification = specification;
  }

  /** The contract of the control plane. */
  public static HttpContract ofControlPlane() {
    return new HttpContract(Specification.of("control-plane.yaml", VersionFlag.V202012));
  }

  /** The contract of the session API. */
  public static HttpContract ofSessions() {
    return new HttpContract(Specification.of("session.yaml", VersionFlag.V202012));
  }

  /**
   * Compares a response with the document.
   *
   * @param path the encoded path of the request, with the query if there is one
   * @return the differences, each with method, path, status, JSON pointer and rule
   */
  public List<String> differences(String method, String path, Response response) {
    String exchange = method + " " + path + " " + response.status();
    JsonNode documented =
        specification.resolved(
            operation(method, path.split("\\?", 2)[0])
                .path("responses")
                .path(Integer.toString(response.status())));
    if (documented.isMissingNode()) {
      return List.of(exchange + ": the contract does not have this status");
    }
    List<String> differences = new ArrayList<>();
    for (Map.Entry<String, JsonNode> header : documented.path("headers").properties()) {
      differences.addAll(ofHeader(header.getKey(), header.getValue(), response));
    }
    differences.addAll(ofBody(documented.path("content"), response));
    return differences.stream().map(difference -> exchange + " " + difference).toList();
  }

  /** The operation with the most literal path; a missing node if there is none. */
  private JsonNode operation(String method, String path) {
    return specification.root().path("paths").properties().stream()
        .filter(template -> path.matches(template.getKey().replaceAll("\\{[^}]+}", "[^/]+")))
        .min(Map.Entry.comparingByKey())
        .map(found -> found.getValue().path(method.toLowerCase(Locale.ROOT)))
        .orElse(specification.root().path("no operation"));
  }

  private List<String> ofHeader(String name, JsonNode reference, Response response) {
    JsonNode header = specification.resolved(reference);
    Optional<String> value = response.headers().firstValue(name);
    if (value.isEmpty()) {
      return header.path("required").asBoolean()
          ? List.of("header " + name + ": required, but absent")
          : List.of();
    }
    JsonNode schema = header.path("schema");
    List<String> asText = specification.violations(schema, TextNode.valueOf(value.get()));
    boolean valid =
        asText.isEmpty()
            || Json.parse(value.get())
                .filter(parsed -> parsed.isNumber() || parsed.isBoolean())
                .filter(parsed -> specification.violations(schema, parsed).isEmpty())
                .isPresent();
    return valid ? List.of() : List.of("header " + name + " " + value.get() + " " + asText);
  }

  private List<String> ofBody(JsonNode content, Response response) {
    if (content.isMissingNode()) {
      return response.body().isEmpty()
          ? List.of()
          : List.of("body: the contract has none: " + response.body());
    }
    String type =
        response.headers().firstValue("Content-Type").orElse("none").split(";", 2)[0].strip();
    JsonNode documented = content.path(type);
    if (documented.isMissingNode()) {
      return List.of("media type " + type + ": the contract does not have it");
    }
    return Json.parse(response.body())
        .map(body -> specification.violations(documented.path("schema"), body))
        .orElseGet(() -> List.of("body: not JSON: " + response.body()));
  }
}

package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Optional;

/** Sends requests to an API. */
@FunctionalInterface
public interface Sender {
  /**
   * Sends one request.
   *
   * @param path the encoded path below the API's URL, with the query if there is one
   * @throws Failure if there is no response
   */
  Response send(String method, String path, Optional<JsonNode> body, Map<String, String> headers);

  default Response get(String path) {
    return send("GET", path, Optional.empty(), Map.of());
  }
}

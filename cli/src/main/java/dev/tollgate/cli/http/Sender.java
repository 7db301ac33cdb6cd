package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Optional;

/** Whatever sends requests to one API and brings the answers. */
@FunctionalInterface
public interface Sender {
  /**
   * Sends one request.
   *
   * @param path what follows the API's own address, encoded, with its query if there is one
   * @throws Failure if no answer comes
   */
  Answer send(String method, String path, Optional<JsonNode> body, Map<String, String> headers);

  default Answer get(String path) {
    return send("GET", path, Optional.empty(), Map.of());
  }
}

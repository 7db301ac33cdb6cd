package dev.tollgate.cli.contract;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.SpecVersion.VersionFlag;
import dev.tollgate.cli.http.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The AsyncAPI document of the WebSockets. */
public final class SocketContract {
  private final Specification specification = Specification.of("asyncapi.yaml", VersionFlag.V7);
  private final JsonNode channel = specification.root().path("channels").path("session");

  /** Compares a frame that the server sent with all messages that it may send. */
  public Optional<String> difference(String frame) {
    Optional<JsonNode> value = Json.parse(frame);
    if (value.isEmpty()) {
      return Optional.of("frame: not JSON: " + frame);
    }
    List<String> differences = new ArrayList<>();
    for (String reference : sent()) {
      JsonNode message = specification.resolved(specification.root().at(reference.substring(1)));
      List<String> violations = specification.violations(message.path("payload"), value.get());
      if (violations.isEmpty()) {
        return Optional.empty();
      }
      String name = reference.substring(reference.lastIndexOf('/') + 1);
      differences.add(name + " " + String.join(", ", violations));
    }
    return Optional.of("frame " + frame + " is no message of the contract: " + differences);
  }

  /** Whether the contract has this status of a handshake. */
  public boolean hasHandshake(int status) {
    return channel.path("x-handshake").has(Integer.toString(status));
  }

  /** Whether the contract has this code, with which the server closed a socket. */
  public boolean hasClose(int code) {
    return channel.path("x-close").has(Integer.toString(code));
  }

  private Set<String> sent() {
    Set<String> references = new TreeSet<>();
    for (JsonNode operation : specification.root().path("operations")) {
      JsonNode sending =
          operation.path("action").asText().equals("send") ? operation : operation.path("reply");
      references.addAll(sending.path("messages").findValuesAsText("$ref"));
    }
    return references;
  }
}

package dev.tollgate.cli.context;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The outputs of one stack, read from a file as {@code cdk deploy --outputs-file} writes it: {@code
 * {"Tollgate":{"SessionURL":"https://…"}}}.
 */
public record Outputs(Path file, String stack, Map<String, String> values) {
  /** The file that {@code tollgate up} writes, relative to the directory of the launcher. */
  public static final Path DEFAULT = Path.of(".tollgate", "outputs.json");

  private static final String CONTROL_PLANE = "ControlPlaneURL";
  private static final String SESSIONS = "SessionURL";

  public Outputs {
    values = Map.copyOf(values);
  }

  /**
   * Reads the outputs of a stack.
   *
   * @param source what names the file in messages, such as an option
   * @param stack the stack's name; may be empty if only one stack in the file has the output {@code
   *     ControlPlaneURL} or {@code SessionURL}
   * @throws Failure if the file or stack does not exist
   */
  public static Outputs read(String source, Path file, Optional<String> stack) {
    String shown = source + ": " + file;
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw Failure.unreadable(shown, e);
    }
    Map<String, JsonNode> stacks = new LinkedHashMap<>();
    Json.read(shown, text).properties().stream()
        .filter(
            entry ->
                stack
                    .map(entry.getKey()::equals)
                    .orElse(entry.getValue().has(CONTROL_PLANE) || entry.getValue().has(SESSIONS)))
        .forEach(entry -> stacks.put(entry.getKey(), entry.getValue()));
    if (stacks.isEmpty()) {
      throw Failure.usage(
          stack
              .map(name -> "--stack: " + name + " (expected: a stack in " + file + ")")
              .orElse(file + " contains no outputs of a Tollgate stack"));
    }
    if (stacks.size() > 1) {
      throw Failure.usage(
          file
              + " contains several stacks. Choose one with --stack: "
              + String.join(", ", stacks.keySet()));
    }
    var only = stacks.entrySet().iterator().next();
    Map<String, String> values = new LinkedHashMap<>();
    only.getValue()
        .properties()
        .forEach(output -> values.put(output.getKey(), Json.text(output.getValue())));
    return new Outputs(file, only.getKey(), values);
  }

  /**
   * The control plane's URL, which identifies the deployment.
   *
   * @throws Failure if the stack has no such output, or it is not a URL
   */
  public URI controlPlane() {
    return url(CONTROL_PLANE, Endpoint.HTTP);
  }

  /**
   * The session API's URL.
   *
   * @throws Failure if the stack has no such output, or it is not a URL
   */
  public URI sessions() {
    if (!hasSessions()) {
      throw Failure.usage(
          "Stack %s in %s has no output SessionURL: Tollgate is attached to an API of your own, whose"
                  .formatted(stack, file)
              + " clients only you know. Check it with `tollgate doctor` and `tollgate verify --handshake`.");
    }
    return url(SESSIONS, Endpoint.HTTP);
  }

  /** Whether the stack has a session API: not if Tollgate is attached to an API of the user. */
  public boolean hasSessions() {
    return values.containsKey(SESSIONS);
  }

  /**
   * The WebSocket API's URL.
   *
   * @throws Failure if the stack has no such output, or it is not a URL
   */
  public URI sockets() {
    return url("WebSocketURL", Endpoint.WEB_SOCKET);
  }

  private URI url(String name, Set<String> schemes) {
    String text =
        Optional.ofNullable(values.get(name))
            .orElseThrow(
                () -> Failure.usage("Stack " + stack + " in " + file + " has no output " + name));
    try {
      return Endpoint.url(text, schemes);
    } catch (IllegalArgumentException e) {
      throw Failure.usage(
          "%s: output %s of stack %s: %s".formatted(file, name, stack, e.getMessage()));
    }
  }
}

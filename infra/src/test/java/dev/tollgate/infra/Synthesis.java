package dev.tollgate.infra;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import software.amazon.awscdk.App;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.assertions.Template;

/** The stack's template, with jars that hold nothing, and what cdk-nag says of it. */
record Synthesis(JsonNode template, List<String> findings) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The template under context values. */
  static Synthesis of(Map<String, String> context) {
    return of(context, stack -> {});
  }

  /**
   * The template under context values, with something put into the stack that is not in the
   * product.
   */
  static Synthesis of(Map<String, String> context, Consumer<Stack> plant) {
    App app = TollgateApp.app(context);
    Stack stack = TollgateApp.stack(app, emptyJars());
    plant.accept(stack);
    JsonNode template = JSON.valueToTree(Template.fromStack(stack).toJSON());
    return new Synthesis(template, TollgateApp.findings(app));
  }

  /** The resources of a type by their logical ids. */
  Map<String, JsonNode> resources(String type) {
    Map<String, JsonNode> found = new TreeMap<>();
    template
        .path("Resources")
        .properties()
        .forEach(
            resource -> {
              if (resource.getValue().path("Type").asText().equals(type)) {
                found.put(resource.getKey(), resource.getValue());
              }
            });
    return found;
  }

  /** The properties of the only resource of a type whose logical id starts so. */
  JsonNode properties(String type, String start) {
    List<JsonNode> found =
        resources(type).entrySet().stream()
            .filter(resource -> resource.getKey().startsWith(start))
            .map(Map.Entry::getValue)
            .toList();
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " of " + type + " " + start + " (expected: 1)");
    }
    return found.get(0).path("Properties");
  }

  /** The statements of the policies attached to a role, by its logical id. */
  List<JsonNode> statementsOf(String role) {
    List<JsonNode> statements = new ArrayList<>();
    for (JsonNode policy : resources("AWS::IAM::Policy").values()) {
      JsonNode properties = policy.path("Properties");
      if (properties.path("Roles").findValuesAsText("Ref").contains(role)) {
        properties.path("PolicyDocument").path("Statement").forEach(statements::add);
      }
    }
    return statements;
  }

  /** What may be one text or a list of them. */
  static Stream<String> texts(JsonNode node) {
    if (node.isTextual()) {
      return Stream.of(node.asText());
    }
    List<String> texts = new ArrayList<>();
    node.forEach(element -> texts.add(element.asText()));
    return texts.stream();
  }

  private static FunctionJars emptyJars() {
    try {
      Path jar = Files.createTempFile("tollgate", ".jar");
      jar.toFile().deleteOnExit();
      return new FunctionJars(jar, jar, jar, jar, jar);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.tollgate.infra;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import software.amazon.awscdk.App;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.assertions.Template;
import software.amazon.awscdk.cxapi.SynthesisMessageLevel;

/** The stack's template, synthesized with jars without code, and the findings of cdk-nag. */
record Synthesis(JsonNode template, List<String> findings) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The only class in the jars, by its name alone. */
  static final String HANDLER = "com.example.Chat";

  /** The documented defaults of the context values. */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "prefix", "",
          "removal", "retain",
          "demo", "true",
          "consoleSignIn", "true",
          "accountLogRole", "keep",
          "claims", "true");

  /** The stacks of this JVM by their context values: tests only read them. */
  private static final Map<Map<String, String>, Synthesis> STACKS = new HashMap<>();

  /** The stack with these context values and explicit defaults for the others. */
  static Synthesis of(Map<String, String> context) {
    Map<String, String> all = new HashMap<>(DEFAULTS);
    all.putAll(context);
    Synthesis known = STACKS.get(all);
    if (known != null) {
      return known;
    }
    Synthesis stack = of(all, planted -> {});
    STACKS.put(all, stack);
    return stack;
  }

  /** Synthesizes the stack with exactly these context values, after a change to it. */
  static Synthesis of(Map<String, String> context, Consumer<Stack> plant) {
    App app = TollgateApp.app(context);
    Stack stack = TollgateApp.stack(app, jarsWithoutCode());
    plant.accept(stack);
    return of(app, stack);
  }

  /** Synthesizes the probe stack with exactly these context values. */
  static Synthesis ofProbe(Map<String, String> context) {
    App app = TollgateApp.app(context);
    return of(app, TollgateApp.probe(app, jarsWithoutCode().handlers()));
  }

  private static Synthesis of(App app, Stack stack) {
    JsonNode template = JSON.valueToTree(Template.fromStack(stack).toJSON());
    return new Synthesis(template, findings(app));
  }

  /**
   * The findings in an app that can be synthesized, as {@link TollgateApp#findings} but read from
   * the assembly at once instead of from each construct.
   */
  @SuppressWarnings("deprecation") // Its types of messages are deprecated without a replacement.
  static List<String> findings(App app) {
    return app.synth().getStacks().stream()
        .flatMap(stack -> stack.getMessages().stream())
        .filter(message -> message.getLevel() != SynthesisMessageLevel.INFO)
        .map(message -> message.getId().substring(1) + ": " + message.getEntry().getData())
        .toList();
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

  /** The properties of the only resource of a type whose logical id has this prefix. */
  JsonNode properties(String type, String prefix) {
    List<JsonNode> found =
        resources(type).entrySet().stream()
            .filter(resource -> resource.getKey().startsWith(prefix))
            .map(Map.Entry::getValue)
            .toList();
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " of " + type + " " + prefix + " (expected: 1)");
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

  /** The elements of a value that is a string or a list of strings. */
  static Stream<String> texts(JsonNode node) {
    if (node.isTextual()) {
      return Stream.of(node.asText());
    }
    List<String> texts = new ArrayList<>();
    node.forEach(element -> texts.add(element.asText()));
    return texts.stream();
  }

  static FunctionJars jarsWithoutCode() {
    try {
      Path jar = Files.createTempFile("tollgate", ".jar");
      jar.toFile().deleteOnExit();
      try (JarOutputStream classes = new JarOutputStream(Files.newOutputStream(jar))) {
        ZipEntry handler = new ZipEntry(HANDLER.replace('.', '/') + ".class");
        // The same bytes each time, because their hash is in the template.
        handler.setTime(0);
        classes.putNextEntry(handler);
      }
      return new FunctionJars(jar, jar, jar, jar, jar);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.tollgate.cli.contract;

import static java.util.stream.Collectors.partitioningBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.AbsoluteIri;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.PathType;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import com.networknt.schema.resource.InputStreamSource;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A YAML document that describes an API with JSON Schemas. Thread-safe. */
final class Specification {
  private static final SchemaValidatorsConfig STRICT =
      SchemaValidatorsConfig.builder()
          .formatAssertionsEnabled(true)
          .pathType(PathType.JSON_POINTER)
          .build();

  private final JsonNode root;
  private final JsonSchemaFactory dialect;
  private final IdentityHashMap<JsonNode, JsonSchema> compiled = new IdentityHashMap<>();

  private Specification(JsonNode root, VersionFlag dialect) {
    this.root = root;
    this.dialect =
        JsonSchemaFactory.getInstance(
            dialect,
            builder -> builder.schemaLoaders(loaders -> loaders.add(Specification::refuse)));
  }

  /**
   * The document in a file that is part of this program.
   *
   * @param dialect the version of JSON Schema that the document uses
   */
  static Specification of(String file, VersionFlag dialect) {
    try (InputStream yaml = Specification.class.getResourceAsStream(file)) {
      Object document =
          new Load(LoadSettings.builder().setLabel(file).build())
              .loadFromInputStream(Objects.requireNonNull(yaml, file));
      return new Specification(Json.tree(document), dialect);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Schemas are read from the class path only, never over the network. */
  private static @Nullable InputStreamSource refuse(AbsoluteIri place) {
    if (place.toString().startsWith("http")) {
      throw new IllegalStateException("schema " + place + " (expected: one on the class path)");
    }
    return null;
  }

  JsonNode root() {
    return root;
  }

  /** The node itself, or the node that it refers to. */
  JsonNode resolved(JsonNode node) {
    JsonNode reference = node.path("$ref");
    return reference.isTextual() ? resolved(root.at(reference.textValue().substring(1))) : node;
  }

  /**
   * The violations of a schema of the document, each with its JSON pointer. A violation also leaves
   * all valid members unevaluated, which is not listed.
   */
  List<String> violations(JsonNode schema, JsonNode value) {
    Map<Boolean, List<ValidationMessage>> consequences =
        compiled(schema).validate(value).stream()
            .collect(partitioningBy(each -> each.getType().startsWith("unevaluated")));
    List<ValidationMessage> causes = consequences.getOrDefault(false, List.of());
    return (causes.isEmpty() ? consequences.getOrDefault(true, List.of()) : causes)
        .stream()
            .map(
                violation -> pointer(violation.getInstanceLocation()) + ": " + violation.getError())
            .toList();
  }

  private static String pointer(Object location) {
    String pointer = location.toString();
    return pointer.isEmpty() ? "the document" : pointer;
  }

  private synchronized JsonSchema compiled(JsonNode schema) {
    return compiled.computeIfAbsent(schema, this::compile);
  }

  /** A schema together with the components that it may refer to. */
  private JsonSchema compile(JsonNode schema) {
    ObjectNode whole =
        schema instanceof ObjectNode object
            ? object.deepCopy()
            : Json.object(Map.of("allOf", List.of(schema)));
    whole.set("components", root.path("components"));
    return dialect.getSchema(whole, STRICT);
  }
}

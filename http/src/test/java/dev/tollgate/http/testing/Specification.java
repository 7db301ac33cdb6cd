package dev.tollgate.http.testing;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import com.networknt.schema.AbsoluteIri;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import com.networknt.schema.resource.InputStreamSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A YAML document that describes an API with JSON Schemas.
 *
 * @see <a href="https://spec.openapis.org/oas/v3.1.1.html">OpenAPI 3.1.1</a>
 * @see <a href="https://www.asyncapi.com/docs/reference/specification/v3.0.0">AsyncAPI 3.0.0</a>
 */
final class Specification {
  private static final ObjectMapper YAML =
      new ObjectMapper(
              YAMLFactory.builder()
                  .disable(YAMLParser.Feature.EMPTY_STRING_AS_NULL)
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final ObjectMapper JSON =
      new ObjectMapper(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNumberLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final ObjectReader NOTHING_TWICE =
      JSON.reader().with(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
  private static final Pattern HUGE_EXPONENT =
      Pattern.compile("(?<![\\w\".+-])(?<upToIt>-?[0-9.]+[eE][+-]?)[0-9]{5,}(?![\\w\"])");
  private static final SchemaValidatorsConfig STRICT =
      SchemaValidatorsConfig.builder().formatAssertionsEnabled(true).build();

  private final JsonNode root;
  private final JsonSchemaFactory dialect;
  private final IdentityHashMap<JsonNode, JsonSchema> compiled = new IdentityHashMap<>();

  private Specification(JsonNode root, SpecVersion.VersionFlag dialect) {
    this.root = root;
    this.dialect = schemas(dialect);
  }

  /** The document in a file, with schemas of this version of JSON Schema. */
  static Specification of(Path file, SpecVersion.VersionFlag dialect) {
    try {
      return new Specification(YAML.readTree(file.toFile()), dialect);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  static Specification of(String yaml, SpecVersion.VersionFlag dialect) {
    try {
      return new Specification(YAML.readTree(yaml), dialect);
    } catch (JsonProcessingException malformed) {
      throw new UncheckedIOException(malformed);
    }
  }

  /** A registry for this version of JSON Schema that loads nothing over the network. */
  static JsonSchemaFactory schemas(SpecVersion.VersionFlag dialect) {
    return JsonSchemaFactory.getInstance(
        dialect, builder -> builder.schemaLoaders(loaders -> loaders.add(Specification::refuse)));
  }

  /** Passes resources of the class path on to the next loader. */
  private static @Nullable InputStreamSource refuse(AbsoluteIri place) {
    if (place.toString().startsWith("http")) {
      throw new AssertionError("a schema is not bundled and would be fetched: " + place);
    }
    return null;
  }

  /** Parses JSON; empty if the text is malformed. */
  static Optional<JsonNode> json(String text) {
    return json(JSON.reader(), text);
  }

  /** Parses JSON; empty if the text is malformed, or an object has a member twice. */
  static Optional<JsonNode> uniqueJson(String text) {
    return json(NOTHING_TWICE, text);
  }

  private static Optional<JsonNode> json(ObjectReader reader, String text) {
    try {
      // The checker expands decimals, and some would fill the memory. No schema requires them.
      JsonNode value = reader.readTree(HUGE_EXPONENT.matcher(text).replaceAll("${upToIt}9"));
      return Optional.of(value).filter(read -> !read.isMissingNode());
    } catch (JsonProcessingException malformed) {
      return Optional.empty();
    }
  }

  JsonNode root() {
    return root;
  }

  /** The node at a path in the document, with references resolved. */
  JsonNode at(String pointer) {
    return resolved(root.at(pointer));
  }

  /**
   * The node itself, or the node that it refers to.
   *
   * @throws AssertionError if the reference has no target
   */
  JsonNode resolved(JsonNode node) {
    JsonNode reference = node.path("$ref");
    return reference.isTextual() ? resolved(referred(reference.textValue())) : node;
  }

  /**
   * The target of a reference.
   *
   * @throws AssertionError if the document has no such node
   */
  JsonNode referred(String reference) {
    JsonNode found = reference.startsWith("#/") ? root.at(reference.substring(1)) : root.at("/-");
    if (found.isMissingNode()) {
      throw new AssertionError("$ref: " + reference + " (expected: something in this document)");
    }
    return found;
  }

  /** The violations of a schema of the document by a value. */
  List<String> flaws(JsonNode schema, JsonNode value) {
    return compiled(schema).validate(value).stream().map(ValidationMessage::getMessage).toList();
  }

  private synchronized JsonSchema compiled(JsonNode schema) {
    return compiled.computeIfAbsent(schema, this::compile);
  }

  /** A schema together with the components that it may refer to. */
  private JsonSchema compile(JsonNode schema) {
    ObjectNode whole = JSON.createObjectNode();
    if (schema.isBoolean()) {
      whole.putArray("allOf").add(schema);
    } else {
      whole.setAll((ObjectNode) schema);
    }
    whole.set("components", root.path("components"));
    return dialect.getSchema(whole, STRICT);
  }
}

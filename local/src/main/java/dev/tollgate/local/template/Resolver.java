package dev.tollgate.local.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.local.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Replaces intrinsic functions with their values.
 *
 * <p>An object with a single key {@code Ref}, {@code Condition} or {@code Fn::...} is an intrinsic;
 * an unknown intrinsic is an error. {@code AWS::NoValue} becomes a {@link MissingNode} and is
 * removed from its object or array.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html">Intrinsic
 *     functions</a>
 */
public final class Resolver {
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]*)}");

  private static final Pattern API_URL =
      Pattern.compile(
          "(?<scheme>wss|https)://(?<id>[a-z0-9-]+)\\.execute-api\\.[a-z0-9-]+\\.amazonaws\\.com");

  private final ObjectNode parameters;
  private final ObjectNode conditions;
  private final Environment environment;
  private final Function<String, CreatedResource> resources;

  /** The endpoints of the APIs that were referred to, by the API's id. */
  private final Map<String, String> endpoints = new ConcurrentHashMap<>();

  Resolver(
      ObjectNode parameters,
      ObjectNode conditions,
      Environment environment,
      Function<String, CreatedResource> resources) {
    this.parameters = parameters;
    this.conditions = conditions;
    this.environment = environment;
    this.resources = resources;
  }

  /**
   * The value with every intrinsic in it replaced.
   *
   * @param place the path of the value, for errors
   * @return a {@link MissingNode} for {@code AWS::NoValue}
   * @throws TemplateException if an intrinsic is unknown or malformed, or refers to a resource that
   *     the template does not have
   */
  public JsonNode resolve(JsonNode value, String place) {
    if (value instanceof ArrayNode array) {
      ArrayNode resolved = Json.array();
      for (int i = 0; i < array.size(); i++) {
        JsonNode element = resolve(array.get(i), place + "[" + i + "]");
        if (!element.isMissingNode()) {
          resolved.add(element);
        }
      }
      return resolved;
    }
    if (!(value instanceof ObjectNode object)) {
      return value;
    }
    Optional<String> intrinsic = intrinsic(object);
    if (intrinsic.isPresent()) {
      String name = intrinsic.get();
      return call(name, object.get(name), place + "." + name);
    }
    ObjectNode resolved = Json.object();
    object
        .properties()
        .forEach(
            entry -> {
              JsonNode member = resolve(entry.getValue(), place + "." + entry.getKey());
              if (!member.isMissingNode()) {
                resolved.set(entry.getKey(), member);
              }
            });
    return resolved;
  }

  /**
   * Creates the resources that a value refers to, without resolving the value.
   *
   * @param place the path of the value, for errors
   * @throws TemplateException if it refers to a resource that the template does not have
   */
  void createReferenced(JsonNode value, String place) {
    String name = value instanceof ObjectNode object ? intrinsic(object).orElse("") : "";
    JsonNode argument = value.path(name);
    switch (name) {
      case "Ref" -> create(argument.asText());
      case "Fn::GetAtt" ->
          create(argument.isTextual() ? argument.asText() : argument.path(0).asText());
      case "Fn::Sub" -> {
        JsonNode variables = argument.path(1);
        VARIABLE
            .matcher(argument.isTextual() ? argument.asText() : argument.path(0).asText())
            .results()
            .map(found -> found.group(1).trim())
            .filter(variable -> !variable.startsWith("!") && !variables.has(variable))
            .forEach(this::create);
        createReferenced(variables, place);
      }
      case "Fn::If" -> {
        requireArguments(argument, 3, place);
        createReferenced(argument.get(holds(argument.get(0).asText(), place) ? 1 : 2), place);
      }
      default -> value.forEach(child -> createReferenced(child, place));
    }
  }

  /** Creates a resource, unless the name is a parameter's. */
  private void create(String reference) {
    String name = reference.replaceFirst("\\..*", "");
    if (!name.startsWith("AWS::") && !parameters.has(name)) {
      var unused = resources.apply(name);
    }
  }

  /** Whether a condition of the template holds. */
  boolean holds(String condition, String place) {
    JsonNode definition = conditions.get(condition);
    if (definition == null) {
      throw new TemplateException(place, "no condition " + condition);
    }
    return truth(definition, "Conditions." + condition);
  }

  /** The name of the intrinsic function, if the object is one. */
  private static Optional<String> intrinsic(ObjectNode object) {
    if (object.size() != 1) {
      return Optional.empty();
    }
    String name = object.fieldNames().next();
    boolean isIntrinsic =
        name.equals("Ref")
            || name.startsWith("Fn::")
            || (name.equals("Condition") && object.get(name).isTextual());
    return isIntrinsic ? Optional.of(name) : Optional.empty();
  }

  private JsonNode call(String name, JsonNode argument, String place) {
    return switch (name) {
      case "Ref" -> ref(argument.asText(), place);
      case "Fn::GetAtt" -> attribute(argument, place);
      case "Fn::Join" -> {
        requireArguments(argument, 2, place);
        List<String> parts = new ArrayList<>();
        array(argument.get(1), place).forEach(part -> parts.add(text(part, place)));
        yield local(String.join(argument.get(0).asText(), parts));
      }
      case "Fn::Sub" -> substitute(argument, place);
      case "Fn::Select" -> {
        requireArguments(argument, 2, place);
        int index = resolve(argument.get(0), place).asInt(-1);
        ArrayNode values = array(argument.get(1), place);
        if (!values.has(index)) {
          throw new TemplateException(place, "no element " + index + " in " + values);
        }
        yield values.get(index);
      }
      case "Fn::Split" -> {
        requireArguments(argument, 2, place);
        String separator = Pattern.quote(argument.get(0).asText());
        ArrayNode parts = Json.array();
        Stream.of(text(argument.get(1), place).split(separator, -1)).forEach(parts::add);
        yield parts;
      }
      case "Fn::If" -> {
        requireArguments(argument, 3, place);
        yield resolve(argument.get(holds(argument.get(0).asText(), place) ? 1 : 2), place);
      }
      case "Fn::Equals" -> {
        requireArguments(argument, 2, place);
        yield BooleanNode.valueOf(
            text(argument.get(0), place).equals(text(argument.get(1), place)));
      }
      case "Fn::Not" -> {
        requireArguments(argument, 1, place);
        yield BooleanNode.valueOf(!truth(argument.get(0), place));
      }
      case "Fn::And" -> BooleanNode.valueOf(!truths(argument, place).contains(false));
      case "Fn::Or" -> BooleanNode.valueOf(truths(argument, place).contains(true));
      case "Condition" -> BooleanNode.valueOf(holds(argument.asText(), place));
      default -> throw new TemplateException(place, "unknown intrinsic " + name);
    };
  }

  private JsonNode ref(String name, String place) {
    if (name.equals("AWS::NoValue")) {
      return MissingNode.getInstance();
    }
    if (name.startsWith("AWS::")) {
      return TextNode.valueOf(
          environment
              .pseudoParameter(name)
              .orElseThrow(() -> new TemplateException(place, "unknown pseudo parameter " + name)));
    }
    JsonNode parameter = parameters.get(name);
    if (parameter == null) {
      CreatedResource resource = resources.apply(name);
      String endpoint = resource.attributes().get("ApiEndpoint");
      if (endpoint != null) {
        endpoints.put(resource.physicalId(), endpoint);
      }
      return TextNode.valueOf(resource.physicalId());
    }
    if (!parameter.path("Type").asText().matches("String|Number") || !parameter.has("Default")) {
      throw new TemplateException(
          place, "parameter " + name + " has no default that is a string or number");
    }
    return TextNode.valueOf(parameter.get("Default").asText());
  }

  private JsonNode attribute(JsonNode argument, String place) {
    if (argument.isTextual()) {
      String[] parts = argument.asText().split("\\.", 2);
      if (parts.length != 2) {
        throw malformed(place);
      }
      return attribute(parts[0], parts[1], place);
    }
    requireArguments(argument, 2, place);
    return attribute(argument.get(0).asText(), text(argument.get(1), place), place);
  }

  private JsonNode attribute(String logicalId, String name, String place) {
    String value = resources.apply(logicalId).attributes().get(name);
    if (value == null) {
      throw new TemplateException(place, logicalId + " has no attribute " + name + " here");
    }
    return TextNode.valueOf(value);
  }

  private JsonNode substitute(JsonNode argument, String place) {
    if (!argument.isTextual()) {
      requireArguments(argument, 2, place);
    }
    JsonNode template = argument.isTextual() ? argument : argument.get(0);
    JsonNode variables = argument.path(1);
    return local(
        VARIABLE
            .matcher(template.asText())
            .replaceAll(
                found -> Matcher.quoteReplacement(variable(found.group(1), variables, place))));
  }

  /**
   * The text, with the endpoint of an API here instead of its host name on AWS. The CDK's {@code
   * stage.getUrl()} and {@code getCallbackUrl()} join the host name instead of asking for {@code
   * ApiEndpoint}.
   */
  private TextNode local(String text) {
    Matcher url = API_URL.matcher(text);
    String endpoint = url.lookingAt() ? endpoints.getOrDefault(url.group("id"), "") : "";
    if (endpoint.isEmpty()) {
      return TextNode.valueOf(text);
    }
    String scheme = url.group("scheme").equals("wss") ? "ws" : "http";
    return TextNode.valueOf(
        scheme + endpoint.substring(endpoint.indexOf(':')) + text.substring(url.end()));
  }

  /** The value of a variable of {@code Fn::Sub}. */
  private String variable(String variable, JsonNode variables, String place) {
    String name = variable.trim();
    if (variable.startsWith("!")) {
      return "${" + variable.substring(1) + "}";
    } else if (variables.has(name)) {
      return text(variables.get(name), place);
    }
    TextNode argument = TextNode.valueOf(name);
    return (name.contains(".") ? attribute(argument, place) : ref(name, place)).asText();
  }

  private List<Boolean> truths(JsonNode argument, String place) {
    List<Boolean> truths = new ArrayList<>();
    argument.forEach(operand -> truths.add(truth(operand, place)));
    return truths;
  }

  private boolean truth(JsonNode value, String place) {
    JsonNode resolved = resolve(value, place);
    if (!resolved.isBoolean()) {
      throw new TemplateException(place, resolved + " is not a condition");
    }
    return resolved.booleanValue();
  }

  private String text(JsonNode value, String place) {
    JsonNode resolved = resolve(value, place);
    if (!resolved.isValueNode()) {
      throw new TemplateException(place, resolved + " (expected: a string)");
    }
    return resolved.asText();
  }

  private ArrayNode array(JsonNode value, String place) {
    if (resolve(value, place) instanceof ArrayNode array) {
      return array;
    }
    throw malformed(place);
  }

  private static void requireArguments(JsonNode argument, int count, String place) {
    if (!argument.isArray() || argument.size() != count) {
      throw malformed(place);
    }
  }

  private static TemplateException malformed(String place) {
    return new TemplateException(place, "malformed intrinsic");
  }
}

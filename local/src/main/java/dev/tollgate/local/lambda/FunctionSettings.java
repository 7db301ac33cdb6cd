package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The configuration of a function as requests give it: what it may be, and what it is if it is not
 * given.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html">CreateFunction</a>
 */
public final class FunctionSettings {
  /** The members that a request may set, and that answers tell again. */
  public static final List<String> MEMBERS =
      List.of(
          "Architectures",
          "Description",
          "Environment",
          "EphemeralStorage",
          "Handler",
          "Layers",
          "LoggingConfig",
          "MemorySize",
          "Role",
          "Runtime",
          "SnapStart",
          "Timeout",
          "TracingConfig");

  private static final String NAME =
      "(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\\d{1}:)?(\\d{12}:)?(function:)?([a-zA-Z0-9-_]+)(:(\\$LATEST|[a-zA-Z0-9-_]+))?";
  private static final String ROLE =
      "arn:(aws[a-zA-Z-]*)?:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+";
  private static final List<String> RUNTIMES =
      List.of("java25", "java21", "java17", "java11", "java8.al2");
  private static final Set<String> RESERVED_VARIABLES =
      Set.of(
          "AWS_ACCESS_KEY",
          "AWS_ACCESS_KEY_ID",
          "AWS_DEFAULT_REGION",
          "AWS_EXECUTION_ENV",
          "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
          "AWS_LAMBDA_FUNCTION_NAME",
          "AWS_LAMBDA_FUNCTION_VERSION",
          "AWS_LAMBDA_INITIALIZATION_TYPE",
          "AWS_LAMBDA_LOG_GROUP_NAME",
          "AWS_LAMBDA_LOG_STREAM_NAME",
          "AWS_LAMBDA_RUNTIME_API",
          "AWS_REGION",
          "AWS_SECRET_ACCESS_KEY",
          "AWS_SECRET_KEY",
          "AWS_SESSION_TOKEN",
          "LAMBDA_RUNTIME_DIR",
          "LAMBDA_TASK_ROOT",
          "_HANDLER");
  private static final int MAX_VARIABLE_BYTES = 4096;

  private FunctionSettings() {}

  /** The name in a request to create a function. */
  static String name(ObjectNode request) {
    String name = required(request, "FunctionName", "functionName");
    String local = name.substring(name.lastIndexOf(':') + 1);
    if (!name.matches(NAME) || local.length() > 64) {
      throw LambdaException.validation(
          "functionName", name, "Member must satisfy regular expression pattern: " + NAME);
    }
    return name;
  }

  /** The settings in a request to create a function. */
  static ObjectNode ofNew(ObjectNode request) {
    name(request);
    for (String member : List.of("Role", "Runtime", "Handler")) {
      required(request, member, memberName(member));
    }
    return ofChange(request);
  }

  /** The settings that a request gives. */
  static ObjectNode ofChange(ObjectNode request) {
    ObjectNode settings = Json.object();
    for (String member : MEMBERS) {
      if (request.hasNonNull(member)) {
        settings.set(member, request.get(member));
      }
    }
    matching(settings, "Role", ROLE);
    matching(settings, "Handler", "[^\\s]{1,128}");
    between(settings, "Timeout", 1, 900);
    between(settings, "MemorySize", 128, 10_240);
    String runtime = settings.path("Runtime").asText(RUNTIMES.get(0));
    if (!RUNTIMES.contains(runtime)) {
      throw LambdaException.invalid(
          "Value %s at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: %s or be a valid ARN"
              .formatted(runtime, RUNTIMES));
    }
    if (settings.path("Description").asText().length() > 256) {
      throw LambdaException.validation(
          "description",
          settings.path("Description").asText(),
          "Member must have length less than or equal to 256");
    }
    checkVariables(settings.at("/Environment/Variables"));
    return settings;
  }

  /** Adds what holds for a function that does not say otherwise. */
  public static void complete(ObjectNode settings, String name) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    Map<String, JsonNode> standard =
        Map.of(
            "Architectures", json.arrayNode().add("x86_64"),
            "Description", json.textNode(""),
            "EphemeralStorage", json.objectNode().put("Size", 512),
            "LoggingConfig",
                json.objectNode().put("LogFormat", "Text").put("LogGroup", "/aws/lambda/" + name),
            "MemorySize", json.numberNode(128),
            "PackageType", json.textNode("Zip"),
            "Timeout", json.numberNode(3),
            "TracingConfig", json.objectNode().put("Mode", "PassThrough"));
    standard.forEach(settings::putIfAbsent);
    ObjectNode snapStart =
        settings.path("SnapStart") instanceof ObjectNode given
            ? given
            : json.objectNode().put("ApplyOn", "None");
    snapStart.put("OptimizationStatus", "Off");
    settings.set("SnapStart", snapStart);
  }

  /** The bytes of a package that a request brings. */
  static byte[] zip(JsonNode code) {
    byte[] zip;
    try {
      zip = Base64.getDecoder().decode(code.path("ZipFile").asText());
    } catch (IllegalArgumentException e) {
      throw (LambdaException) LambdaException.unreadable().initCause(e);
    }
    if (zip.length < 4 || zip[0] != 'P' || zip[1] != 'K') {
      throw LambdaException.invalid(
          "Could not unzip uploaded file. Please check your file, then try to upload again.");
    }
    return zip;
  }

  private static void checkVariables(JsonNode variables) {
    Set<String> reserved = new TreeSet<>();
    int bytes = 0;
    for (Map.Entry<String, JsonNode> variable : variables.properties()) {
      String name = variable.getKey();
      if (!name.matches("[a-zA-Z][a-zA-Z0-9_]+")) {
        throw LambdaException.validation(
            "environment.variables",
            name,
            "Map keys must satisfy constraint: [Member must satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+]");
      }
      if (RESERVED_VARIABLES.contains(name)) {
        reserved.add(name);
      }
      bytes += (name + variable.getValue().asText()).getBytes(StandardCharsets.UTF_8).length;
    }
    String problem =
        "Lambda was unable to configure your environment variables because the environment variables you have provided ";
    if (!reserved.isEmpty()) {
      throw LambdaException.invalid(
          problem
              + "contains reserved keys that are currently not supported for modification. Reserved keys used in this request: "
              + String.join(", ", reserved));
    }
    if (bytes > MAX_VARIABLE_BYTES) {
      throw LambdaException.invalid(
          problem + "exceeded the 4KB limit. String measured: " + variables);
    }
  }

  private static String required(ObjectNode request, String member, String name) {
    String value = request.path(member).asText();
    if (value.isEmpty()) {
      throw LambdaException.validation(name, "null", "Member must not be null");
    }
    return value;
  }

  private static void matching(ObjectNode settings, String member, String pattern) {
    JsonNode value = settings.path(member);
    if (!value.isMissingNode() && !value.asText().matches(pattern)) {
      throw LambdaException.validation(
          memberName(member),
          value.asText(),
          "Member must satisfy regular expression pattern: " + pattern);
    }
  }

  private static void between(ObjectNode settings, String member, int min, int max) {
    JsonNode value = settings.path(member);
    if (value.isMissingNode()) {
      return;
    }
    if (!value.isIntegralNumber() || value.asLong() < min) {
      throw LambdaException.validation(
          memberName(member),
          value.asText(),
          "Member must have value greater than or equal to " + min);
    }
    if (value.asLong() > max) {
      throw LambdaException.validation(
          memberName(member),
          value.asText(),
          "Member must have value less than or equal to " + max);
    }
  }

  private static String memberName(String member) {
    return Character.toLowerCase(member.charAt(0)) + member.substring(1);
  }
}

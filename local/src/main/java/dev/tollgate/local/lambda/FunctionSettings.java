package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The configuration of a function in requests: its constraints and defaults.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html">CreateFunction</a>
 */
public final class FunctionSettings {
  /** The members that a request may set and that answers contain. */
  public static final List<String> MEMBERS =
      List.of(
          "Architectures",
          "DeadLetterConfig",
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

  private static final Pattern NAME =
      Pattern.compile(
          "(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\\d{1}:)?(\\d{12}:)?(function:)?([a-zA-Z0-9-_]{1,64})(:(\\$LATEST|[a-zA-Z0-9-_]+))?");
  private static final Pattern ROLE =
      Pattern.compile("arn:(aws[a-zA-Z-]*)?:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+");
  private static final Pattern HANDLER = Pattern.compile("[^\\s]{1,128}");
  private static final List<String> RUNTIMES =
      List.of(
          "java25",
          "java21",
          "java17",
          "java11",
          "java8.al2",
          "nodejs24.x",
          "nodejs22.x",
          "nodejs20.x");
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

  static String name(ObjectNode request) {
    Members members = new Members(request);
    String name = members.requiredText("FunctionName", 0, 140, Optional.of(NAME));
    members.check();
    return name;
  }

  /** The settings in a request to create a function. */
  static ObjectNode ofNew(ObjectNode request) {
    Members members = new Members(request);
    for (String member : List.of("Role", "Runtime", "Handler")) {
      members.requiredText(member, 0, Integer.MAX_VALUE, Optional.empty());
    }
    members.check();
    return ofChange(request);
  }

  /** The settings in a request to create or change a function. */
  static ObjectNode ofChange(ObjectNode request) {
    ObjectNode settings = Json.object();
    for (String member : MEMBERS) {
      if (request.hasNonNull(member)) {
        settings.set(member, request.get(member));
      }
    }
    Members members = new Members(settings);
    members.text("Role", 0, Integer.MAX_VALUE, Optional.of(ROLE));
    members.text("Handler", 0, Integer.MAX_VALUE, Optional.of(HANDLER));
    members.text("Description", 0, 256);
    members.integer("Timeout", 1, 900);
    members.integer("MemorySize", 128, 10_240);
    members.check();
    String runtime = settings.path("Runtime").asText(RUNTIMES.get(0));
    if (!RUNTIMES.contains(runtime)) {
      throw LambdaApi.invalid(
          "Value %s at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: %s or be a valid ARN"
              .formatted(runtime, RUNTIMES));
    }
    checkVariables(settings.at("/Environment/Variables"));
    return settings;
  }

  /**
   * Whether an ARN is that of a standard queue, the only destination of events that exists here.
   */
  public static boolean isQueue(String arn) {
    return arn.startsWith("arn:aws:sqs:") && !arn.endsWith(".fifo");
  }

  /**
   * Adds the defaults of settings that are absent.
   *
   * @throws ApiException if dead letters go elsewhere than to a standard queue
   */
  public static void complete(ObjectNode settings, String name) {
    String deadLetters = settings.at("/DeadLetterConfig/TargetArn").asText();
    if (!deadLetters.isEmpty() && !isQueue(deadLetters)) {
      throw LambdaApi.invalid("DeadLetterConfig: " + deadLetters + " (expected: a standard queue)");
    }
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

  /** The bytes of the package in a request. */
  static byte[] zip(JsonNode code) {
    byte[] zip;
    try {
      zip = Base64.getDecoder().decode(code.path("ZipFile").asText());
    } catch (IllegalArgumentException e) {
      throw (ApiException) LambdaApi.invalidContent().initCause(e);
    }
    if (zip.length < 4 || zip[0] != 'P' || zip[1] != 'K') {
      throw LambdaApi.invalid(
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
        throw ApiException.validation(
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
      throw LambdaApi.invalid(
          problem
              + "contains reserved keys that are currently not supported for modification. Reserved keys used in this request: "
              + String.join(", ", reserved));
    }
    if (bytes > MAX_VARIABLE_BYTES) {
      throw LambdaApi.invalid(problem + "exceeded the 4KB limit. String measured: " + variables);
    }
  }
}

package dev.tollgate.local;

import dev.tollgate.local.lambda.FunctionSpec;
import dev.tollgate.local.lambda.Functions;
import dev.tollgate.local.services.AccessKeys;
import dev.tollgate.local.services.Principal;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import dev.tollgate.local.template.Template;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Gathers Lambda functions with their versions and aliases, which are resources of their own, until
 * all can be defined.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html">AWS::Lambda::Function</a>
 */
final class FunctionParts {
  private static final int DEFAULT_TIMEOUT_SECONDS = 3;
  private static final int DEFAULT_MEMORY_MB = 128;

  private final Template template;
  private final Environment environment;
  private final AccessKeys accessKeys;
  private final URI frontDoor;
  private final Map<String, Part> parts = new LinkedHashMap<>();

  /** A function, and the ARNs found for it so far. */
  private record Part(
      List<String> arns,
      Path jar,
      String handler,
      Map<String, String> variables,
      Duration timeout,
      int memoryMb,
      OptionalInt reservedConcurrency) {}

  FunctionParts(Template template, Environment environment, AccessKeys accessKeys, URI frontDoor) {
    this.template = template;
    this.environment = environment;
    this.accessKeys = accessKeys;
    this.frontDoor = frontDoor;
  }

  Brought function(String logicalName, Properties properties) {
    String name = properties.optionalText("FunctionName").orElse(logicalName);
    String arn = environment.arn("lambda", "function:" + name);
    Properties code =
        properties.object("Code").orElseThrow(() -> properties.error("Code", "absent"));
    code.ignore("S3Bucket");
    String key = code.text("S3Key");
    Path jar =
        template
            .asset(key)
            .orElseThrow(() -> code.error("S3Key", key + " (expected: a file in the assets)"));
    String runtime = properties.text("Runtime");
    if (!runtime.startsWith("java")) {
      throw properties.error("Runtime", runtime + " (expected: a Java runtime)");
    }
    int memoryMb = properties.integer("MemorySize").orElse(DEFAULT_MEMORY_MB);
    Map<String, String> variables = new HashMap<>();
    properties
        .object("Environment")
        .ifPresent(given -> variables.putAll(given.textMap("Variables")));
    variables.put("AWS_ENDPOINT_URL", frontDoor.toString());
    variables.put("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", Integer.toString(memoryMb));
    variables.put("AWS_LAMBDA_FUNCTION_NAME", name);
    variables.put("AWS_REGION", environment.region());
    variables.putAll(accessKeys.issue(Principal.of(name, properties.text("Role"))).environment());
    properties.ignore(
        "Architectures",
        "Description",
        "EphemeralStorage",
        "LoggingConfig",
        "SnapStart",
        "Tags",
        "TracingConfig");
    parts.put(
        name,
        new Part(
            new ArrayList<>(List.of(arn)),
            jar,
            properties.text("Handler"),
            variables,
            Duration.ofSeconds(properties.integer("Timeout").orElse(DEFAULT_TIMEOUT_SECONDS)),
            memoryMb,
            properties
                .integer("ReservedConcurrentExecutions")
                .map(OptionalInt::of)
                .orElse(OptionalInt.empty())));
    return Brought.withArn(name, arn);
  }

  Brought version(String logicalName, Properties properties) {
    properties.ignore("Description", "CodeSha256");
    String arn = qualified(properties, "1");
    return new Brought(arn, Map.of("Version", "1", "FunctionArn", arn));
  }

  Brought alias(String logicalName, Properties properties) {
    properties.ignore("Description", "FunctionVersion");
    String arn = qualified(properties, properties.text("Name"));
    return new Brought(arn, Map.of("AliasArn", arn));
  }

  /** Functions invoked by an event are invoked once here, so nothing else may be asked for. */
  Brought eventInvokeConfig(String logicalName, Properties properties) {
    properties.ignore("DestinationConfig", "FunctionName", "MaximumEventAgeInSeconds", "Qualifier");
    int retries = properties.integer("MaximumRetryAttempts").orElse(2);
    if (retries != 0) {
      throw properties.error("MaximumRetryAttempts", retries + " (expected: 0)");
    }
    return Brought.of(logicalName);
  }

  /** Defines all functions that were gathered. */
  void define(Functions functions) {
    parts.forEach(
        (name, part) ->
            functions.define(
                new FunctionSpec(
                    name,
                    part.arns(),
                    part.jar(),
                    part.handler(),
                    part.variables(),
                    part.timeout(),
                    part.memoryMb(),
                    part.reservedConcurrency())));
  }

  private String qualified(Properties properties, String qualifier) {
    String name = properties.text("FunctionName");
    String function = name.substring(name.lastIndexOf(':') + 1);
    Part part = parts.get(function);
    if (part == null) {
      throw properties.error("FunctionName", name + " (expected: a function of the template)");
    }
    String arn = part.arns().get(0) + ":" + qualifier;
    part.arns().add(arn);
    return arn;
  }
}

package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.FunctionCatalog.StackFunction;
import dev.tollgate.local.lambda.FunctionSettings;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.nio.file.Path;
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
  private static final List<String> NUMBERS = List.of("MemorySize", "Timeout");

  private final Assets assets;
  private final Environment environment;
  private final FunctionCatalog catalog;
  private final Map<String, Part> parts = new LinkedHashMap<>();

  /** A function, and the versions and aliases found for it so far. */
  private record Part(
      ObjectNode settings,
      Path jar,
      Map<String, String> qualifiers,
      OptionalInt reservedConcurrency) {}

  FunctionParts(Assets assets, Environment environment, FunctionCatalog catalog) {
    this.assets = assets;
    this.environment = environment;
    this.catalog = catalog;
  }

  Brought function(String logicalName, Properties properties) {
    String name = properties.optionalText("FunctionName").orElse(logicalName);
    Properties code =
        properties.object("Code").orElseThrow(() -> properties.error("Code", "absent"));
    String bucket = code.text("S3Bucket");
    String key = code.text("S3Key");
    assets.addBucket(bucket);
    Path jar =
        assets
            .find(bucket, key)
            .orElseThrow(() -> code.error("S3Key", key + " (expected: a file in the assets)"));
    String runtime = properties.text("Runtime");
    if (!runtime.startsWith("java")) {
      throw properties.error("Runtime", runtime + " (expected: a Java runtime)");
    }
    properties.text("Handler");
    properties.text("Role");
    ObjectNode settings = JsonNodeFactory.instance.objectNode();
    for (String member : FunctionSettings.MEMBERS) {
      if (NUMBERS.contains(member)) {
        properties.integer(member).ifPresent(value -> settings.put(member, value));
      } else {
        properties.json(member).ifPresent(value -> settings.set(member, value));
      }
    }
    FunctionSettings.complete(settings, name);
    properties.ignore("Tags");
    parts.put(
        name,
        new Part(
            settings,
            jar,
            new LinkedHashMap<>(),
            properties
                .integer("ReservedConcurrentExecutions")
                .map(OptionalInt::of)
                .orElse(OptionalInt.empty())));
    return Brought.withArn(name, arn(name));
  }

  Brought version(String logicalName, Properties properties) {
    properties.ignore("Description", "CodeSha256");
    String function = function(properties);
    // The CDK gives a version another logical name whenever its function changes.
    String version = catalog.version(function, logicalName);
    String arn = qualified(properties, version, version);
    return new Brought(arn, Map.of("Version", version, "FunctionArn", arn));
  }

  Brought alias(String logicalName, Properties properties) {
    properties.ignore("Description");
    String arn = qualified(properties, properties.text("Name"), properties.text("FunctionVersion"));
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

  /** A log group is but a name: what functions log goes to the log of the run. */
  Brought logGroup(String logicalName, Properties properties) {
    String name = properties.optionalText("LogGroupName").orElse(logicalName);
    properties.ignore(
        "DataProtectionPolicy", "KmsKeyId", "LogGroupClass", "RetentionInDays", "Tags");
    return Brought.withArn(name, environment.arn("logs", "log-group:" + name + ":*"));
  }

  /** Defines all functions that were gathered. */
  void define() {
    parts.forEach(
        (name, part) ->
            catalog.add(
                new StackFunction(
                    name,
                    part.settings(),
                    part.jar(),
                    part.qualifiers(),
                    part.reservedConcurrency())));
  }

  private String qualified(Properties properties, String qualifier, String version) {
    String function = function(properties);
    Part part = parts.get(function);
    if (part == null) {
      throw properties.error("FunctionName", function + " (expected: a function of the template)");
    }
    part.qualifiers().put(qualifier, version);
    return arn(function) + ":" + qualifier;
  }

  private static String function(Properties properties) {
    String name = properties.text("FunctionName");
    return name.substring(name.lastIndexOf(':') + 1);
  }

  private String arn(String name) {
    return environment.arn("lambda", "function:" + name);
  }
}

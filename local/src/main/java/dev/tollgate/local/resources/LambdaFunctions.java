package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.events.MappingSettings;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.lambda.AsyncInvocations;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.FunctionSettings;
import dev.tollgate.local.lambda.runtime.NodeRuntime;
import dev.tollgate.local.lambda.runtime.Packages;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * Lambda functions with their versions, aliases, permissions and event source mappings.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Lambda.html">AWS::Lambda</a>
 */
public final class LambdaFunctions implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        "AWS::Lambda::Alias", LambdaFunctions::alias,
        "AWS::Lambda::EventInvokeConfig", LambdaFunctions::eventInvokeConfig,
        "AWS::Lambda::EventSourceMapping", LambdaFunctions::eventSourceMapping,
        "AWS::Lambda::Function", LambdaFunctions::function,
        "AWS::Lambda::Permission", LambdaFunctions::permission,
        "AWS::Lambda::Version", LambdaFunctions::version);
  }

  private static CreatedResource function(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("FunctionName").orElse(logicalName);
    Path code = code(properties.requiredObject("Code"), stack);
    String runtime = properties.text("Runtime");
    if (!runtime.startsWith("java")
        && !(runtime.startsWith("nodejs") && NodeRuntime.isInstalled())) {
      throw properties.error(
          "Runtime",
          runtime + " (expected: a Java runtime, or one of Node if this machine has Node)");
    }
    properties.text("Handler");
    properties.text("Role");
    ObjectNode settings = properties.copy(FunctionSettings.MEMBERS);
    for (String number : List.of("MemorySize", "Timeout")) {
      properties.integer(number).ifPresent(value -> settings.put(number, value));
    }
    FunctionSettings.complete(settings, name);
    OptionalInt reservedConcurrency = properties.integer("ReservedConcurrentExecutions");
    // Loops of functions and queues are not detected here, so there is nothing to allow.
    properties.ignore("RecursiveLoop", "Tags");
    stack.service(FunctionCatalog.class).add(name, settings, code, reservedConcurrency);
    return CreatedResource.withArn(name, arn(stack, name));
  }

  /** The deployment package. A directory is packed; the text of a template is a file in Node. */
  private static Path code(Properties code, Stack stack) {
    try {
      Optional<String> text = code.optionalText("ZipFile");
      if (text.isPresent()) {
        return Packages.of("index.js", text.get());
      }
      String bucket = code.text("S3Bucket");
      String key = code.text("S3Key");
      stack.template().addBucket(bucket);
      Path asset =
          stack
              .template()
              .asset(bucket, key)
              .orElseThrow(
                  () ->
                      code.error("S3Key", key + " (expected: a file or directory in the assets)"));
      return Files.isDirectory(asset) ? Packages.of(asset) : asset;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static CreatedResource version(String logicalName, Properties properties, Stack stack) {
    properties.ignore("Description", "CodeSha256");
    FunctionCatalog catalog = stack.service(FunctionCatalog.class);
    String function = functionName(properties);
    // The CDK gives a version another logical name whenever its function changes.
    String version = catalog.version(function, logicalName);
    String arn = qualify(properties, stack, version, version);
    return new CreatedResource(arn, Map.of("Version", version, "FunctionArn", arn));
  }

  private static CreatedResource alias(String logicalName, Properties properties, Stack stack) {
    properties.ignore("Description");
    String arn =
        qualify(properties, stack, properties.text("Name"), properties.text("FunctionVersion"));
    return new CreatedResource(arn, Map.of("AliasArn", arn));
  }

  private static CreatedResource eventInvokeConfig(
      String logicalName, Properties properties, Stack stack) {
    String function = functionName(properties) + ":" + properties.text("Qualifier");
    ObjectNode configuration =
        stack
            .service(FunctionCatalog.class)
            .configuration(function)
            .orElseThrow(() -> properties.error("Qualifier", function + " does not exist"));
    Optional<Properties> destinations = properties.object("DestinationConfig");
    AsyncInvocations.Config standard = AsyncInvocations.Config.DEFAULT;
    stack
        .service(AsyncInvocations.class)
        .configure(
            configuration.path("FunctionArn").asText(),
            new AsyncInvocations.Config(
                within(properties, "MaximumRetryAttempts", 0, 2, standard.retries()),
                Duration.ofSeconds(
                    within(
                        properties,
                        "MaximumEventAgeInSeconds",
                        60,
                        21_600,
                        (int) standard.maximumAge().toSeconds())),
                destinations.flatMap(each -> destination(each, "OnSuccess")),
                destinations.flatMap(each -> destination(each, "OnFailure"))));
    return CreatedResource.of(logicalName);
  }

  private static int within(Properties properties, String name, int least, int most, int standard) {
    int value = properties.integer(name).orElse(standard);
    if (value < least || value > most) {
      throw properties.error(name, value + " (expected: " + least + " to " + most + ")");
    }
    return value;
  }

  private static Optional<String> destination(Properties destinations, String event) {
    return destinations
        .object(event)
        .flatMap(
            each -> {
              Optional<String> arn = each.optionalText("Destination");
              arn.filter(text -> !FunctionSettings.isQueue(text))
                  .ifPresent(
                      text -> {
                        throw each.error("Destination", text + " (expected: a standard queue)");
                      });
              return arn;
            });
  }

  private static CreatedResource eventSourceMapping(
      String logicalName, Properties properties, Stack stack) {
    properties.ignore("Tags");
    ObjectNode members = properties.copy(MappingSettings.MEMBERS);
    String id =
        UUID.nameUUIDFromBytes(properties.place().getBytes(StandardCharsets.UTF_8)).toString();
    stack.service(EventSources.class).add(id, members);
    return CreatedResource.of(id);
  }

  private static CreatedResource permission(
      String logicalName, Properties properties, Stack stack) {
    properties.oneOf("Action", "lambda:InvokeFunction");
    String function = properties.text("FunctionName");
    stack
        .service(Policies.class)
        .allowInvocation(
            function.startsWith("arn:") ? function : arn(stack, function),
            properties.text("Principal"),
            properties.optionalText("SourceArn"));
    return CreatedResource.of(logicalName);
  }

  private static String qualify(
      Properties properties, Stack stack, String qualifier, String version) {
    String function = functionName(properties);
    if (!stack.service(FunctionCatalog.class).qualify(function, qualifier, version)) {
      throw properties.error("FunctionName", function + " (expected: a function of the template)");
    }
    return arn(stack, function) + ":" + qualifier;
  }

  private static String functionName(Properties properties) {
    String name = properties.text("FunctionName");
    return name.substring(name.lastIndexOf(':') + 1);
  }

  private static String arn(Stack stack, String function) {
    return stack.environment().arn("lambda", "function:" + function);
  }
}

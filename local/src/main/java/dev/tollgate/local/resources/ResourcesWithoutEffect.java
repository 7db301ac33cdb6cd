package dev.tollgate.local.resources;

import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.Map;

/**
 * Types for budgets, keys, logging and documentation, which have no effect locally. Log groups only
 * have a name, which the settings of functions refer to.
 */
public final class ResourcesWithoutEffect implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    ResourceType type =
        (name, properties, stack) -> {
          properties.ignoreAll();
          return CreatedResource.of(name);
        };
    return Map.of(
        "AWS::Budgets::Budget", type,
        "AWS::CDK::Metadata", type,
        "AWS::EventSchemas::Registry", type,
        "AWS::EventSchemas::Schema", type,
        "AWS::KMS::Key", ResourcesWithoutEffect::key,
        "AWS::Logs::QueryDefinition", type,
        "AWS::Logs::LogGroup", ResourcesWithoutEffect::logGroup);
  }

  /** Nothing is encrypted locally. */
  private static CreatedResource key(String logicalName, Properties properties, Stack stack) {
    properties.ignore(
        "Description", "EnableKeyRotation", "KeyPolicy", "PendingWindowInDays", "Tags");
    return CreatedResource.withArn(
        logicalName, stack.environment().arn("kms", "key/" + logicalName));
  }

  private static CreatedResource logGroup(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("LogGroupName").orElse(logicalName);
    properties.ignore(
        "DataProtectionPolicy", "KmsKeyId", "LogGroupClass", "RetentionInDays", "Tags");
    return CreatedResource.withArn(
        name, stack.environment().arn("logs", "log-group:" + name + ":*"));
  }
}

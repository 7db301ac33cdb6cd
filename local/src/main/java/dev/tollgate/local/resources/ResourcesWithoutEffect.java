package dev.tollgate.local.resources;

import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.Map;

/**
 * Types for budgets, logging and documentation, which have no effect locally. Log groups only have
 * a name, which the settings of functions refer to.
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
        "AWS::Logs::QueryDefinition", type,
        "AWS::Logs::LogGroup", ResourcesWithoutEffect::logGroup);
  }

  private static CreatedResource logGroup(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("LogGroupName").orElse(logicalName);
    properties.ignore(
        "DataProtectionPolicy", "KmsKeyId", "LogGroupClass", "RetentionInDays", "Tags");
    return CreatedResource.withArn(
        name, stack.environment().arn("logs", "log-group:" + name + ":*"));
  }
}

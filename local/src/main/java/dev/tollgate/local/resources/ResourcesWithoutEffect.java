package dev.tollgate.local.resources;

import java.util.Map;

/** Types for logging and monitoring, which have no effect locally. */
public final class ResourcesWithoutEffect implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    ResourceType type =
        (name, properties, stack) -> {
          properties.ignoreAll();
          return CreatedResource.of(name);
        };
    return Map.of(
        "AWS::ApiGateway::Account", type,
        "AWS::CDK::Metadata", type,
        "AWS::CloudWatch::Alarm", type,
        "AWS::CloudWatch::Dashboard", type);
  }
}

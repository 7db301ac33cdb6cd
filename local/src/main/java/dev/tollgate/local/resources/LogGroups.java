package dev.tollgate.local.resources;

import dev.tollgate.local.template.Properties;
import java.util.Map;

/** Log groups. They only have a name: all functions write to the log of the run. */
public final class LogGroups implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::Logs::LogGroup", LogGroups::create);
  }

  private static CreatedResource create(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("LogGroupName").orElse(logicalName);
    properties.ignore(
        "DataProtectionPolicy", "KmsKeyId", "LogGroupClass", "RetentionInDays", "Tags");
    return CreatedResource.withArn(
        name, stack.environment().arn("logs", "log-group:" + name + ":*"));
  }
}

package dev.tollgate.local.resources;

import dev.tollgate.local.cloudwatch.Alarm;
import dev.tollgate.local.cloudwatch.CloudWatch;
import dev.tollgate.local.cloudwatch.CompositeAlarm;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.List;
import java.util.Map;

/**
 * CloudWatch alarms over metric math, alarms over these, and dashboards of metrics.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-alarm.html">AWS::CloudWatch::Alarm</a>
 */
public final class Alarms implements ResourceFamily {
  private static final List<String> MEMBERS =
      List.of(
          "ActionsEnabled",
          "AlarmActions",
          "AlarmDescription",
          "AlarmName",
          "ComparisonOperator",
          "DatapointsToAlarm",
          "EvaluationPeriods",
          "InsufficientDataActions",
          "Metrics",
          "OKActions",
          "Threshold",
          "TreatMissingData");

  private static final List<String> COMPOSITE_MEMBERS =
      List.of(
          "ActionsEnabled",
          "ActionsSuppressor",
          "ActionsSuppressorExtensionPeriod",
          "ActionsSuppressorWaitPeriod",
          "AlarmActions",
          "AlarmDescription",
          "AlarmName",
          "AlarmRule",
          "InsufficientDataActions",
          "OKActions");

  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        "AWS::CloudWatch::Alarm", Alarms::alarm,
        "AWS::CloudWatch::CompositeAlarm", Alarms::composite,
        "AWS::CloudWatch::Dashboard", Alarms::dashboard);
  }

  private static CreatedResource dashboard(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("DashboardName").orElse(logicalName);
    try {
      stack.service(CloudWatch.class).addDashboard(name, properties.text("DashboardBody"));
    } catch (IllegalArgumentException e) {
      throw properties.error("DashboardBody", String.valueOf(e.getMessage()));
    }
    return CreatedResource.of(name);
  }

  private static CreatedResource composite(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("AlarmName").orElse(logicalName);
    properties.ignore("Tags");
    try {
      CompositeAlarm alarm =
          new CompositeAlarm(properties.copy(COMPOSITE_MEMBERS).put("AlarmName", name));
      return CreatedResource.withArn(name, stack.service(CloudWatch.class).add(alarm));
    } catch (IllegalArgumentException e) {
      throw properties.error(name, String.valueOf(e.getMessage()));
    }
  }

  private static CreatedResource alarm(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("AlarmName").orElse(logicalName);
    properties.ignore("Tags");
    try {
      Alarm alarm = new Alarm(properties.copy(MEMBERS).put("AlarmName", name));
      return CreatedResource.withArn(name, stack.service(CloudWatch.class).add(alarm));
    } catch (IllegalArgumentException e) {
      throw properties.error(name, String.valueOf(e.getMessage()));
    }
  }
}

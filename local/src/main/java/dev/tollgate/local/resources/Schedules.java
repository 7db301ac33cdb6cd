package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.scheduler.Scheduler;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.List;
import java.util.Map;

/**
 * Schedules and schedule groups.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Scheduler.html">AWS::Scheduler</a>
 */
public final class Schedules implements ResourceFamily {
  private static final List<String> MEMBERS =
      List.of(
          "Description",
          "EndDate",
          "FlexibleTimeWindow",
          "GroupName",
          "ScheduleExpression",
          "ScheduleExpressionTimezone",
          "StartDate",
          "State",
          "Target");

  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        "AWS::Scheduler::Schedule", Schedules::schedule,
        "AWS::Scheduler::ScheduleGroup", Schedules::group);
  }

  private static CreatedResource group(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("Name").orElse(logicalName);
    properties.ignore("Tags");
    return CreatedResource.withArn(name, stack.service(Scheduler.class).putGroup(name, Map.of()));
  }

  private static CreatedResource schedule(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("Name").orElse(logicalName);
    ObjectNode members = properties.copy(MEMBERS);
    return CreatedResource.withArn(name, stack.service(Scheduler.class).putSchedule(name, members));
  }
}

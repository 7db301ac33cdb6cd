package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.scheduler.Scheduler;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Gathers schedule groups and schedules until what they invoke is there.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Scheduler.html">AWS::Scheduler</a>
 */
final class ScheduleParts {
  private static final String[] MEMBERS = {
    "Description",
    "EndDate",
    "FlexibleTimeWindow",
    "GroupName",
    "ScheduleExpression",
    "ScheduleExpressionTimezone",
    "StartDate",
    "State",
    "Target"
  };

  private final Environment environment;
  private final Map<String, Map<String, String>> groups = new LinkedHashMap<>();
  private final Map<String, ObjectNode> schedules = new LinkedHashMap<>();

  ScheduleParts(Environment environment) {
    this.environment = environment;
  }

  Brought group(String logicalName, Properties properties) {
    String name = properties.optionalText("Name").orElse(logicalName);
    properties.ignore("Tags");
    groups.put(name, Map.of());
    return Brought.withArn(name, environment.arn("scheduler", "schedule-group/" + name));
  }

  Brought schedule(String logicalName, Properties properties) {
    String name = properties.optionalText("Name").orElse(logicalName);
    ObjectNode members = JsonNodeFactory.instance.objectNode();
    for (String member : MEMBERS) {
      properties.json(member).ifPresent(value -> members.set(member, value));
    }
    schedules.put(name, members);
    String group = members.path("GroupName").asText("default");
    return Brought.withArn(name, environment.arn("scheduler", "schedule/" + group + "/" + name));
  }

  /** Hands all that was gathered to the scheduler. */
  void put(Scheduler scheduler) {
    groups.forEach(scheduler::putGroup);
    schedules.forEach(scheduler::putSchedule);
  }
}

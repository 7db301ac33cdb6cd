package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.util.ArrayList;
import java.util.List;

/**
 * The accesses of requests to EventBridge Scheduler. Creating or changing a schedule also passes
 * the role of its target.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridgescheduler.html">Actions
 *     of EventBridge Scheduler</a>
 */
final class ScheduleAccesses {
  private static final String SERVICE = "scheduler.amazonaws.com";
  private static final String DEFAULT_GROUP = "default";

  private final Environment environment;

  ScheduleAccesses(Environment environment) {
    this.environment = environment;
  }

  List<Access> of(Call call) {
    String action = "scheduler:" + call.operation();
    String[] path = call.path().split("/", -1);
    String name = path.length > 2 ? path[2] : "";
    if (call.operation().startsWith("List")) {
      return List.of(Access.to(action, "*"));
    }
    if (call.operation().endsWith("ScheduleGroup")) {
      return List.of(Access.to(action, environment.arn("scheduler", "schedule-group/" + name)));
    }
    JsonNode body = Json.readOrMissing(call.body());
    String group = call.query("groupName").orElse(body.path("GroupName").asText(DEFAULT_GROUP));
    List<Access> accesses = new ArrayList<>();
    accesses.add(Access.to(action, environment.arn("scheduler", "schedule/" + group + "/" + name)));
    if (body.has("Target")) {
      accesses.add(RoleAccesses.pass(body.at("/Target/RoleArn").asText(), SERVICE));
    }
    return accesses;
  }
}

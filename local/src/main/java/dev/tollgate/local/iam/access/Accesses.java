package dev.tollgate.local.iam.access;

import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.template.Environment;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Derives the accesses that a request needs. */
public final class Accesses {
  private static final Pattern CONNECTION = Pattern.compile("/([^/]+)/([^/]+)/@connections/(.+)");

  private final Environment environment;
  private final TableAccesses tables;
  private final QueueAccesses queues;
  private final ScheduleAccesses schedules;
  private final FunctionAccesses functions;

  /**
   * @param functionOfMapping the ARN of an event source mapping's function, by the mapping's id
   */
  public Accesses(
      Environment environment,
      TableKeys keys,
      Function<String, Optional<String>> functionOfMapping) {
    this.environment = environment;
    this.tables = new TableAccesses(environment, keys);
    this.queues = new QueueAccesses(environment);
    this.schedules = new ScheduleAccesses(environment);
    this.functions = new FunctionAccesses(environment, functionOfMapping);
  }

  /**
   * The accesses of a request, each of which must be allowed. A request without accesses is allowed
   * for all callers.
   */
  List<Access> of(Call call) {
    if (call.service().equals("sts")) {
      return RoleAccesses.of(call);
    }
    List<Access> accesses =
        switch (call.service()) {
          case "dynamodb" -> tables.of(call);
          case "sqs" -> queues.of(call);
          case "scheduler" -> schedules.of(call);
          case "lambda" -> functions.of(call);
          case "execute-api" -> connection(call);
          default -> List.of();
        };
    return accesses.isEmpty()
        ? List.of(Access.to(call.service() + ":" + call.operation(), "*"))
        : accesses;
  }

  /**
   * See <a
   * href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-control-access-iam.html">Control
   * access to WebSocket APIs</a>.
   */
  private List<Access> connection(Call call) {
    Matcher path = CONNECTION.matcher(call.path());
    return path.matches()
        ? List.of(
            Access.to(
                "execute-api:ManageConnections",
                environment.arn(
                    "execute-api",
                    "%s/%s/%s/@connections/%s"
                        .formatted(path.group(1), path.group(2), call.method(), path.group(3)))))
        : List.of();
  }
}

package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.QueryProtocol;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Derives the accesses that a request to an AWS API needs, each an action on a resource. */
public final class Accesses {
  private static final Pattern CONNECTION = Pattern.compile("/([^/]+)/([^/]+)/@connections/(.+)");

  private final Environment environment;
  private final TableAccesses tables;
  private final Function<String, Optional<String>> functionOfMapping;

  /**
   * @param functionOfMapping the ARN of an event source mapping's function, by the mapping's id
   */
  public Accesses(
      Environment environment,
      TableKeys keys,
      Function<String, Optional<String>> functionOfMapping) {
    this.environment = environment;
    this.tables = new TableAccesses(environment, keys);
    this.functionOfMapping = functionOfMapping;
  }

  /**
   * Refuses requests unless policies allow all of their accesses.
   *
   * @param log receives a line for each refused request
   */
  public Authorization authorization(Policies policies, Consumer<String> log) {
    return call -> {
      Optional<String> denial =
          of(call).stream()
              .flatMap(access -> policies.denial(call.principal(), access).stream())
              .findFirst();
      denial.ifPresent(message -> log.accept("AccessDenied: " + message));
      return denial;
    };
  }

  /**
   * The accesses of a request, each of which must be allowed. {@code GetCallerIdentity} needs none.
   */
  private List<Access> of(Call call) {
    if (call.service().equals("sts")) {
      return roles(call);
    }
    List<Access> accesses =
        switch (call.service()) {
          case "dynamodb" -> tables.of(call);
          case "sqs" -> queues(call);
          case "scheduler" -> schedules(call);
          case "lambda" -> functions(call);
          case "execute-api" -> connection(call);
          case "events" -> eventBuses(call);
          case "logs" -> logGroup(call);
          default -> List.of();
        };
    return accesses.isEmpty() ? List.of(Access.to(action(call), "*")) : accesses;
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

  private List<Access> eventBuses(Call call) {
    List<Access> accesses = new ArrayList<>();
    for (JsonNode entry : Json.readOrMissing(call.body()).path("Entries")) {
      String bus = entry.path("EventBusName").asText("default");
      accesses.add(
          Access.to(
              action(call),
              bus.startsWith("arn:") ? bus : environment.arn("events", "event-bus/" + bus)));
    }
    return accesses;
  }

  private List<Access> logGroup(Call call) {
    String name = Json.readOrMissing(call.body()).path("logGroupName").asText();
    return List.of(Access.to(action(call), environment.arn("logs", "log-group:" + name + ":*")));
  }

  /**
   * A batch needs the permission of the single operation (<a
   * href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html">API
   * permissions</a>). Creating a queue with tags needs the permission to tag it. A request of the
   * query protocol names the queue in its form or its path; access to both names must be allowed.
   */
  private List<Access> queues(Call call) {
    String action = action(call).replaceFirst("Batch$", "");
    if (call.operation().equals("ListQueues")) {
      return List.of();
    }
    JsonNode body = Json.readOrMissing(call.body());
    Map<String, String> form = body.isObject() ? Map.of() : call.form();
    Stream<String> names =
        body.isObject()
            ? Stream.of("QueueUrl", "QueueName", "SourceArn").map(name -> body.path(name).asText())
            : Stream.of(
                form.getOrDefault("QueueUrl", ""), form.getOrDefault("QueueName", ""), call.path());
    boolean tags = action.equals("sqs:CreateQueue") && !body.path("tags").isEmpty();
    return names
        .map(Environment::queueName)
        .filter(name -> !name.isEmpty())
        .distinct()
        .map(name -> environment.arn("sqs", name))
        .flatMap(
            arn ->
                Stream.concat(
                    Stream.of(Access.to(action, arn)),
                    tags ? Stream.of(Access.to("sqs:TagQueue", arn)) : Stream.empty()))
        .toList();
  }

  /**
   * Creating or changing a schedule also passes the role of its target.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridgescheduler.html">Actions
   *     of EventBridge Scheduler</a>
   */
  private List<Access> schedules(Call call) {
    if (call.operation().startsWith("List")) {
      return List.of();
    }
    String name = segment(call.path(), 2);
    if (call.operation().endsWith("ScheduleGroup")) {
      return List.of(
          Access.to(action(call), environment.arn("scheduler", "schedule-group/" + name)));
    }
    JsonNode body = Json.readOrMissing(call.body());
    String group = call.query("groupName").orElse(body.path("GroupName").asText("default"));
    Access access =
        Access.to(action(call), environment.arn("scheduler", "schedule/" + group + "/" + name));
    return body.has("Target")
        ? List.of(access, passRole(body.at("/Target/RoleArn"), "scheduler.amazonaws.com"))
        : List.of(access);
  }

  /**
   * The creator of a function also passes its role and must be allowed to read its code. Policies
   * identify an event source mapping by its function, a condition key.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html">Actions
   *     of Lambda</a>
   */
  private List<Access> functions(Call call) {
    JsonNode body = Json.readOrMissing(call.body());
    String name = segment(call.path(), 3);
    String named = body.path("FunctionName").asText();
    return switch (call.operation()) {
      case "GetAccountSettings", "ListEventSourceMappings", "ListFunctions" -> List.of();
      case "CreateEventSourceMapping" ->
          List.of(new Access(action(call), "*", ofFunction(function(named, Optional.empty()))));
      case "GetEventSourceMapping", "UpdateEventSourceMapping", "DeleteEventSourceMapping" ->
          ofMapping(call, name, body);
      case "Invoke" ->
          List.of(Access.to("lambda:InvokeFunction", function(name, call.query("Qualifier"))));
      default -> ofFunction(call, name.isEmpty() ? named : name, body);
    };
  }

  private List<Access> ofMapping(Call call, String id, JsonNode body) {
    String arn = environment.arn("lambda", "event-source-mapping:" + id);
    Context now = functionOfMapping.apply(id).map(Accesses::ofFunction).orElse(Context.EMPTY);
    String then = function(body.path("FunctionName").asText(), Optional.empty());
    Access access = new Access(action(call), arn, now);
    return body.has("FunctionName")
        ? List.of(access, new Access(action(call), arn, ofFunction(then)))
        : List.of(access);
  }

  private List<Access> ofFunction(Call call, String name, JsonNode body) {
    List<Access> accesses = new ArrayList<>();
    accesses.add(Access.to(action(call), function(name, call.query("Qualifier"))));
    if (body.has("Role")) {
      accesses.add(passRole(body.path("Role"), "lambda.amazonaws.com"));
    }
    JsonNode code = body.has("Code") ? body.path("Code") : body;
    if (code.has("S3Bucket")) {
      String object = code.path("S3Bucket").asText() + "/" + code.path("S3Key").asText();
      accesses.add(Access.to("s3:GetObject", "arn:aws:s3:::" + object));
    }
    return accesses;
  }

  private static Context ofFunction(String arn) {
    return Context.EMPTY.with("lambda:FunctionArn", arn);
  }

  /** The ARN of a function, given its name, a part of its ARN, or its ARN. */
  private String function(String name, Optional<String> qualifier) {
    String unqualified =
        name.startsWith("arn:")
            ? name
            : environment.arn("lambda", "function:" + name.replaceFirst("^.*function:", ""));
    return qualifier.map(q -> unqualified + ":" + q).orElse(unqualified);
  }

  /**
   * Session tags need a separate permission (<a
   * href="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html#id_session-tags_permissions-required">Permissions
   * required to add session tags</a>).
   */
  private static List<Access> roles(Call call) {
    if (call.operation().equals("GetCallerIdentity")) {
      return List.of();
    }
    String roleArn = call.form().getOrDefault("RoleArn", "");
    List<Map.Entry<String, String>> tags = QueryProtocol.tags(call.form());
    Context context =
        Context.EMPTY
            .with("aws:TagKeys", tags.stream().map(Map.Entry::getKey).toList())
            .withTags("aws:RequestTag/", tags);
    Access access = new Access(action(call), roleArn, context);
    return tags.isEmpty()
        ? List.of(access)
        : List.of(access, new Access("sts:TagSession", roleArn, context));
  }

  private static Access passRole(JsonNode roleArn, String service) {
    return new Access(
        "iam:PassRole", roleArn.asText(), Context.EMPTY.with("iam:PassedToService", service));
  }

  private static String action(Call call) {
    String service = call.service().equals("monitoring") ? "cloudwatch" : call.service();
    return service + ":" + call.operation();
  }

  private static String segment(String path, int number) {
    String[] segments = path.split("/", -1);
    return segments.length > number ? segments[number] : "";
  }
}

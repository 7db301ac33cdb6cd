package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.ApiException;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.rest.RestApi;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpServerExchange;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The REST-JSON protocol of the service. See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/APIReference/API_Operations.html">API
 * Reference</a>.
 */
final class Api extends RestApi {
  private static final Pattern PATH = Pattern.compile("(/[^/]*/?)(.*)");
  private static final Pattern GROUP_ARN =
      Pattern.compile(
          "arn:aws(?:-[a-z]+)?:scheduler:[a-z0-9\\-]+:\\d{12}:schedule-group\\/([0-9a-zA-Z-_.]+)");
  private static final int MAX_RESULTS = 100;

  Api(Scheduler scheduler, Environment environment) {
    super(new Operations(scheduler, environment).all());
  }

  @Override
  protected Target target(HttpServerExchange exchange) {
    Matcher path = PATH.matcher(exchange.getRequestURI());
    return path.matches()
        ? new Target(exchange.getRequestMethod() + " " + path.group(1), path.group(2))
        : new Target("", "");
  }

  @Override
  protected ApiException unreadable() {
    return ApiException.serialization("The request body is not a JSON object.");
  }

  @Override
  protected ObjectNode error(ApiException refused) {
    return Json.object().put("Message", refused.text());
  }

  /** The operations by method and path, without the name at the end of the path. */
  private record Operations(Scheduler scheduler, Environment environment) {
    Map<String, Operation> all() {
      Map<String, Function<Request, JsonNode>> all = new HashMap<>();
      all.put("GET /schedules", this::listSchedules);
      all.put(
          "POST /schedules/",
          call -> arn("ScheduleArn", scheduler.createSchedule(call.name(), call.body())));
      all.put(
          "PUT /schedules/",
          call -> arn("ScheduleArn", scheduler.updateSchedule(call.name(), call.body())));
      all.put(
          "GET /schedules/",
          call ->
              scheduler
                  .schedule(Scheduler.key(groupName(call), call.name(), Optional.empty()))
                  .toJson(environment));
      all.put(
          "DELETE /schedules/",
          run(
              call ->
                  scheduler.deleteSchedule(
                      groupName(call), call.name(), call.query("clientToken"))));
      all.put("GET /schedule-groups", this::listGroups);
      all.put("POST /schedule-groups/", this::createGroup);
      all.put(
          "GET /schedule-groups/", call -> scheduler.requireGroup(call.name()).toJson(environment));
      all.put(
          "DELETE /schedule-groups/",
          run(call -> scheduler.deleteGroup(call.name(), call.query("clientToken"))));
      all.put("GET /tags/", call -> Json.object("Tags", group(call).tagList()));
      all.put("POST /tags/", run(call -> scheduler.tag(group(call), tags(call.body()))));
      all.put("DELETE /tags/", run(call -> scheduler.untag(group(call), call.queries("TagKeys"))));
      return all.entrySet().stream()
          .collect(
              Collectors.toMap(
                  Map.Entry::getKey, entry -> call -> Answer.ok(entry.getValue().apply(call))));
    }

    private static Function<Request, JsonNode> run(Consumer<Request> operation) {
      return call -> {
        operation.accept(call);
        return Json.object();
      };
    }

    private static JsonNode arn(String member, String arn) {
      return Json.object().put(member, arn);
    }

    private JsonNode createGroup(Request call) {
      Optional<String> token = new Members(call.body()).text("ClientToken", 1, Integer.MAX_VALUE);
      return arn("ScheduleGroupArn", scheduler.createGroup(call.name(), tags(call.body()), token));
    }

    private JsonNode listSchedules(Request call) {
      Optional<String> group = call.query("ScheduleGroup");
      group.ifPresent(scheduler::requireGroup);
      Optional<String> state = call.query("State");
      if (state.isPresent() && !List.of("ENABLED", "DISABLED").contains(state.get())) {
        throw ApiException.validation(
            "state", state.get(), "Member must satisfy enum value set: [ENABLED, DISABLED]");
      }
      String prefix = call.query("NamePrefix").orElse("");
      return page(
          call,
          "Schedules",
          scheduler.schedules().stream()
              .filter(schedule -> group.map(schedule.key().group()::equals).orElse(true))
              .filter(schedule -> schedule.key().name().startsWith(prefix))
              .filter(schedule -> state.map(schedule.definition().state()::equals).orElse(true))
              .toList(),
          schedule -> schedule.key().group() + "\0" + schedule.key().name(),
          schedule -> schedule.toSummary(environment));
    }

    private JsonNode listGroups(Request call) {
      String prefix = call.query("NamePrefix").orElse("");
      return page(
          call,
          "ScheduleGroups",
          scheduler.groups().stream().filter(group -> group.name().startsWith(prefix)).toList(),
          Group::name,
          group -> group.toJson(environment));
    }

    /**
     * The page of an ordered list that begins after the position that the request's token holds.
     */
    private static <T> JsonNode page(
        Request call,
        String member,
        List<T> all,
        Function<T, String> position,
        Function<T, ObjectNode> summary) {
      int limit = maxResults(call);
      Optional<String> after = call.query("NextToken").map(Operations::decodeToken);
      List<T> rest =
          all.stream()
              .filter(
                  item -> after.map(last -> position.apply(item).compareTo(last) > 0).orElse(true))
              .limit(limit + 1L)
              .toList();
      List<T> page = rest.subList(0, Math.min(limit, rest.size()));
      ObjectNode answer = Json.object();
      ArrayNode items = answer.putArray(member);
      page.forEach(item -> items.add(summary.apply(item)));
      if (rest.size() > limit) {
        byte[] last = position.apply(page.get(limit - 1)).getBytes(StandardCharsets.UTF_8);
        answer.put("NextToken", Base64.getUrlEncoder().withoutPadding().encodeToString(last));
      }
      return answer;
    }

    private static String decodeToken(String token) {
      try {
        return new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
      } catch (IllegalArgumentException e) {
        throw ApiException.validation("Invalid NextToken.");
      }
    }

    private static String groupName(Request call) {
      return call.query("groupName").orElse(Group.DEFAULT);
    }

    private Group group(Request call) {
      Matcher arn = GROUP_ARN.matcher(call.name());
      if (!arn.matches()) {
        throw ApiException.validation(
            "resourceArn",
            call.name(),
            "Member must satisfy regular expression pattern: ^" + GROUP_ARN + "$");
      }
      return scheduler.requireGroup(arn.group(1));
    }

    private static Map<String, String> tags(JsonNode body) {
      Members members = new Members(body);
      Map<String, String> tags = new LinkedHashMap<>();
      for (Members tag : members.structures("Tags")) {
        tags.put(
            tag.requiredText("Key", 1, 128, Optional.empty()),
            tag.requiredText("Value", 1, 256, Optional.empty()));
      }
      members.check();
      return tags;
    }

    private static int maxResults(Request call) {
      ObjectNode query = Json.object();
      call.query("MaxResults").ifPresent(text -> query.put("MaxResults", text));
      Members members = new Members(query);
      int limit = members.integer("MaxResults", 1, MAX_RESULTS).orElse(MAX_RESULTS);
      members.check();
      return limit;
    }
  }
}

package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.rest.Page;
import dev.tollgate.local.rest.RestApi;
import dev.tollgate.local.template.Environment;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The REST-JSON protocol of the service. See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/APIReference/API_Operations.html">API
 * Reference</a>.
 */
final class Api extends RestApi {
  private static final Pattern GROUP_ARN =
      Pattern.compile(
          "arn:aws(?:-[a-z]+)?:scheduler:[a-z0-9\\-]+:\\d{12}:schedule-group\\/([0-9a-zA-Z-_.]+)");
  private static final int MAX_RESULTS = 100;

  private final Scheduler scheduler;
  private final Environment environment;

  Api(Scheduler scheduler, Environment environment) {
    this.scheduler = scheduler;
    this.environment = environment;
  }

  @Override
  protected ApiException unreadable() {
    return ApiException.serialization("The request body is not a JSON object.");
  }

  @Override
  protected ObjectNode error(ApiException refused) {
    return Json.object().put("Message", refused.text());
  }

  @Override
  protected Answer answer(String operation, Request request) {
    ObjectNode answer = Json.object();
    String name = request.name();
    Optional<String> token = request.query("clientToken");
    switch (operation) {
      case "CreateSchedule" ->
          answer.put("ScheduleArn", scheduler.createSchedule(name, request.body()));
      case "UpdateSchedule" ->
          answer.put("ScheduleArn", scheduler.updateSchedule(name, request.body()));
      case "GetSchedule" ->
          answer =
              scheduler
                  .schedule(Scheduler.key(groupName(request), name, Optional.empty()))
                  .toJson(environment);
      case "DeleteSchedule" -> scheduler.deleteSchedule(groupName(request), name, token);
      case "ListSchedules" -> listSchedules(request, answer);
      case "CreateScheduleGroup" -> answer.put("ScheduleGroupArn", createGroup(request));
      case "GetScheduleGroup" -> answer = scheduler.requireGroup(name).toJson(environment);
      case "DeleteScheduleGroup" -> scheduler.deleteGroup(name, token);
      case "ListScheduleGroups" -> listGroups(request, answer);
      case "TagResource" -> scheduler.tag(group(request), tags(request.body()));
      case "UntagResource" -> scheduler.untag(group(request), request.queries("TagKeys"));
      case "ListTagsForResource" -> answer.set("Tags", group(request).tagList());
      default -> throw unknownOperation();
    }
    return Answer.ok(answer);
  }

  private String createGroup(Request request) {
    Optional<String> token = new Members(request.body()).text("ClientToken", 1, Integer.MAX_VALUE);
    return scheduler.createGroup(request.name(), tags(request.body()), token);
  }

  private void listSchedules(Request request, ObjectNode answer) {
    Optional<String> group = request.query("ScheduleGroup");
    group.ifPresent(scheduler::requireGroup);
    Members query = request.members();
    Optional<String> state = query.text("State", 0, Integer.MAX_VALUE);
    query.choice("State", "ENABLED", "DISABLED");
    query.check();
    String prefix = request.query("NamePrefix").orElse("");
    page(
            request,
            answer.putArray("Schedules"),
            scheduler.schedules().stream()
                .filter(schedule -> group.map(schedule.key().group()::equals).orElse(true))
                .filter(schedule -> schedule.key().name().startsWith(prefix))
                .filter(schedule -> state.map(schedule.definition().state()::equals).orElse(true)),
            schedule -> schedule.key().group() + "\0" + schedule.key().name(),
            schedule -> schedule.toSummary(environment))
        .ifPresent(next -> answer.put("NextToken", next));
  }

  private void listGroups(Request request, ObjectNode answer) {
    String prefix = request.query("NamePrefix").orElse("");
    page(
            request,
            answer.putArray("ScheduleGroups"),
            scheduler.groups().stream().filter(group -> group.name().startsWith(prefix)),
            Group::name,
            group -> group.toJson(environment))
        .ifPresent(next -> answer.put("NextToken", next));
  }

  /** Adds the requested page of a list to an array. Returns the token of the next page. */
  private static <T> Optional<String> page(
      Request request,
      ArrayNode items,
      Stream<T> all,
      Function<T, String> position,
      Function<T, ObjectNode> summary) {
    Optional<String> after = request.query("NextToken").map(Api::decodeToken);
    Page<T> page = Page.of(all, position, after, maxResults(request));
    page.items().forEach(item -> items.add(summary.apply(item)));
    return page.next()
        .map(next -> next.getBytes(StandardCharsets.UTF_8))
        .map(Base64.getUrlEncoder().withoutPadding()::encodeToString);
  }

  private static String decodeToken(String token) {
    try {
      return new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw ApiException.validation("Invalid NextToken.");
    }
  }

  private static String groupName(Request request) {
    return request.query("groupName").orElse(Group.DEFAULT);
  }

  private Group group(Request request) {
    Matcher arn = GROUP_ARN.matcher(request.name());
    if (!arn.matches()) {
      throw ApiException.validation(
          "resourceArn",
          request.name(),
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

  private static int maxResults(Request request) {
    Members query = request.members();
    int limit = query.integer("MaxResults", 1, MAX_RESULTS).orElse(MAX_RESULTS);
    query.check();
    return limit;
  }
}

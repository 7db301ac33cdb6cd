package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The REST-JSON protocol of the service. See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/APIReference/API_Operations.html">API
 * Reference</a>.
 */
final class Api implements HttpHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Api.class);
  private static final HttpString ERROR_TYPE = new HttpString("x-amzn-ErrorType");
  private static final HttpString REQUEST_ID = new HttpString("x-amzn-RequestId");
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
  public void handleRequest(HttpServerExchange exchange) throws IOException {
    if (exchange.isInIoThread()) {
      exchange.dispatch(this);
      return;
    }
    if (!exchange.isBlocking()) {
      exchange.startBlocking();
    }
    exchange.getResponseHeaders().put(REQUEST_ID, UUID.randomUUID().toString());
    try {
      respond(exchange, 200, answer(Call.read(exchange)));
    } catch (SchedulerException e) {
      fail(exchange, e.status(), e.code(), String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      LOG.error("Request failed", e);
      fail(exchange, 500, "InternalServerException", e.toString());
    }
  }

  private JsonNode answer(Call call) {
    return switch (call.operation()) {
      case "GET /schedules" -> listSchedules(call);
      case "POST /schedules/" -> createSchedule(call);
      case "PUT /schedules/" -> updateSchedule(call);
      case "GET /schedules/" -> scheduler.schedule(key(call)).toJson(environment);
      case "DELETE /schedules/" -> deleteSchedule(call);
      case "GET /schedule-groups" -> listGroups(call);
      case "POST /schedule-groups/" -> createGroup(call);
      case "GET /schedule-groups/" -> scheduler.requireGroup(call.name()).toJson(environment);
      case "DELETE /schedule-groups/" -> deleteGroup(call);
      case "GET /tags/" -> listTags(call);
      case "POST /tags/" -> tag(call);
      case "DELETE /tags/" -> untag(call);
      default -> throw SchedulerException.unknownOperation();
    };
  }

  private JsonNode createSchedule(Call call) {
    String arn = scheduler.createSchedule(call.name(), call.body());
    return Json.object().put("ScheduleArn", arn);
  }

  private JsonNode updateSchedule(Call call) {
    String arn = scheduler.updateSchedule(call.name(), call.body());
    return Json.object().put("ScheduleArn", arn);
  }

  private JsonNode deleteSchedule(Call call) {
    ScheduleKey key = key(call);
    scheduler.deleteSchedule(key.group(), key.name(), call.query("clientToken"));
    return Json.object();
  }

  private JsonNode createGroup(Call call) {
    Optional<String> token =
        new Members().text(call.body(), "ClientToken", "clientToken", 1, Integer.MAX_VALUE);
    String arn = scheduler.createGroup(call.name(), tags(call.body()), token);
    return Json.object().put("ScheduleGroupArn", arn);
  }

  private JsonNode deleteGroup(Call call) {
    scheduler.deleteGroup(call.name(), call.query("clientToken"));
    return Json.object();
  }

  private JsonNode listTags(Call call) {
    ObjectNode answer = Json.object();
    answer.set("Tags", group(call).tagList());
    return answer;
  }

  private JsonNode tag(Call call) {
    scheduler.tag(group(call), tags(call.body()));
    return Json.object();
  }

  private JsonNode untag(Call call) {
    scheduler.untag(group(call), call.queries("TagKeys"));
    return Json.object();
  }

  private JsonNode listSchedules(Call call) {
    Optional<String> group = call.query("ScheduleGroup");
    group.ifPresent(scheduler::requireGroup);
    Optional<String> state = call.query("State");
    if (state.isPresent() && !List.of("ENABLED", "DISABLED").contains(state.get())) {
      throw SchedulerException.validation(
          "1 validation error detected: Value '"
              + state.get()
              + "' at 'state' failed to satisfy constraint: Member must satisfy enum value set: [ENABLED, DISABLED]");
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

  private JsonNode listGroups(Call call) {
    String prefix = call.query("NamePrefix").orElse("");
    return page(
        call,
        "ScheduleGroups",
        scheduler.groups().stream().filter(group -> group.name().startsWith(prefix)).toList(),
        Group::name,
        group -> group.toJson(environment));
  }

  /** The page of an ordered list that begins after the position that the request's token holds. */
  private static <T> JsonNode page(
      Call call,
      String member,
      List<T> all,
      Function<T, String> position,
      Function<T, ObjectNode> summary) {
    int limit = call.maxResults();
    Optional<String> after = call.query("NextToken").map(Api::decodeToken);
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
      answer.put("NextToken", encodeToken(position.apply(page.get(limit - 1))));
    }
    return answer;
  }

  private static String encodeToken(String position) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(position.getBytes(StandardCharsets.UTF_8));
  }

  private static String decodeToken(String token) {
    try {
      return new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw SchedulerException.validation("Invalid NextToken.");
    }
  }

  private static ScheduleKey key(Call call) {
    Members members = new Members();
    ScheduleKey key =
        new ScheduleKey(
            members.name(call.query("groupName").orElse(Group.DEFAULT), "groupName"),
            members.name(call.name(), "name"));
    members.check();
    return key;
  }

  private Group group(Call call) {
    Matcher arn = GROUP_ARN.matcher(call.name());
    if (!arn.matches()) {
      throw SchedulerException.validation(
          "1 validation error detected: Value '"
              + call.name()
              + "' at 'resourceArn' failed to satisfy constraint: "
              + "Member must satisfy regular expression pattern: ^"
              + GROUP_ARN
              + "$");
    }
    return scheduler.requireGroup(arn.group(1));
  }

  private static Map<String, String> tags(JsonNode body) {
    Members members = new Members();
    Map<String, String> tags = new LinkedHashMap<>();
    int number = 0;
    for (JsonNode tag : body.path("Tags")) {
      String at = "tags." + ++number + ".member.";
      tags.put(
          members.required(members.text(tag, "Key", at + "key", 1, 128), at + "key"),
          members.required(members.text(tag, "Value", at + "value", 1, 256), at + "value"));
    }
    members.check();
    return tags;
  }

  private static void fail(HttpServerExchange exchange, int status, String code, String message) {
    exchange.getResponseHeaders().put(ERROR_TYPE, code);
    respond(exchange, status, Json.object().put("Message", message));
  }

  private static void respond(HttpServerExchange exchange, int status, JsonNode body) {
    exchange.setStatusCode(status);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(body.toString());
  }

  /**
   * A request, taken apart.
   *
   * @param operation method and path, without the name that the path ends in
   * @param name the last element of the path, or empty
   */
  private record Call(
      String operation, String name, Map<String, Deque<String>> query, JsonNode body) {
    static Call read(HttpServerExchange exchange) throws IOException {
      List<String> path = new ArrayList<>();
      for (String element : exchange.getRequestURI().substring(1).split("/", 2)) {
        path.add(URLDecoder.decode(element.replace("+", "%2B"), StandardCharsets.UTF_8));
      }
      String text = new String(exchange.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      JsonNode body;
      try {
        body = text.isEmpty() ? Json.object() : Json.readStrictly(text);
      } catch (JsonProcessingException e) {
        throw SchedulerException.serialization("The request body is not JSON.");
      }
      boolean named = path.size() == 2;
      return new Call(
          exchange.getRequestMethod() + " /" + path.get(0) + (named ? "/" : ""),
          named ? path.get(1) : "",
          exchange.getQueryParameters(),
          body);
    }

    Optional<String> query(String parameter) {
      return Optional.ofNullable(query.get(parameter)).map(Deque::getFirst);
    }

    List<String> queries(String parameter) {
      return List.copyOf(Optional.ofNullable(query.get(parameter)).orElseGet(ArrayDeque::new));
    }

    int maxResults() {
      Optional<String> text = query("MaxResults");
      if (text.isEmpty()) {
        return MAX_RESULTS;
      }
      ObjectNode json = Json.object().put("MaxResults", text.get());
      Members members = new Members();
      int limit = members.integer(json, "MaxResults", "maxResults", 1, MAX_RESULTS).orElseThrow();
      members.check();
      return limit;
    }
  }
}

package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.template.Environment;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A schedule group.
 *
 * @param clientToken the client token of the request that created it
 * @param deleted when its deletion ends; empty if nobody has deleted it
 */
record Group(
    String name,
    Instant created,
    Instant modified,
    Map<String, String> tags,
    Optional<String> clientToken,
    Optional<Instant> deleted) {
  static final String DEFAULT = "default";

  Group {
    tags = Map.copyOf(tags);
  }

  static String arn(Environment environment, String name) {
    return environment.arn("scheduler", "schedule-group/" + name);
  }

  Group tagged(Map<String, String> newTags, Instant now) {
    return new Group(name, created, now, newTags, clientToken, deleted);
  }

  /** The same group, which is {@code DELETING} until a given time. */
  Group deletedAt(Instant end) {
    return new Group(name, created, modified, tags, clientToken, Optional.of(end));
  }

  /** The answer of GetScheduleGroup. */
  ObjectNode toJson(Environment environment) {
    return Json.object()
        .put("Arn", arn(environment, name))
        .put("CreationDate", Json.epochSeconds(created))
        .put("LastModificationDate", Json.epochSeconds(modified))
        .put("Name", name)
        .put("State", deleted.isPresent() ? "DELETING" : "ACTIVE");
  }

  ArrayNode tagList() {
    ArrayNode list = Json.array();
    new TreeMap<>(tags)
        .forEach((key, value) -> list.addObject().put("Key", key).put("Value", value));
    return list;
  }

  ObjectNode toRecord(Environment environment) {
    ObjectNode json = toJson(environment);
    json.set("Tags", tagList());
    clientToken.ifPresent(value -> json.put("ClientToken", value));
    return json;
  }

  static Group fromRecord(JsonNode json) {
    Members members = new Members(json);
    Map<String, String> tags = new TreeMap<>();
    json.path("Tags")
        .forEach(tag -> tags.put(tag.path("Key").asText(), tag.path("Value").asText()));
    return new Group(
        json.path("Name").asText(),
        members.time("CreationDate").orElseThrow(),
        members.time("LastModificationDate").orElseThrow(),
        tags,
        members.text("ClientToken", 0, Integer.MAX_VALUE),
        Optional.empty());
  }
}

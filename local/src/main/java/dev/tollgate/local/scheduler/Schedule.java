package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.template.Environment;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;

/**
 * A schedule.
 *
 * @param request identifies the request that created or changed it: its client token and a digest
 *     of its members
 */
record Schedule(
    Key key, Definition definition, Instant created, Instant modified, Optional<String> request) {
  /** Identifies a schedule. Names are unique within a group. */
  record Key(String group, String name) implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::group).thenComparing(Key::name);

    String arn(Environment environment) {
      return environment.arn("scheduler", "schedule/" + group + "/" + name);
    }

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }
  }

  Targets.Rights rights(Environment environment) {
    return new Targets.Rights(definition.target().roleArn(), Group.arn(environment, key.group()));
  }

  Timing timing() {
    return definition.timing(modified);
  }

  /** The answer of GetSchedule. */
  ObjectNode toJson(Environment environment) {
    return identify(definition.toJson(), environment);
  }

  private ObjectNode identify(ObjectNode json, Environment environment) {
    return json.put("Arn", key.arn(environment))
        .put("CreationDate", Json.epochSeconds(created))
        .put("GroupName", key.group())
        .put("LastModificationDate", Json.epochSeconds(modified))
        .put("Name", key.name());
  }

  /** The entry in the answer of ListSchedules. */
  ObjectNode toSummary(Environment environment) {
    ObjectNode json = identify(Json.object(), environment).put("State", definition.state());
    json.putObject("Target").put("Arn", definition.target().arn());
    return json;
  }

  ObjectNode toRecord(Environment environment) {
    ObjectNode json = toJson(environment);
    request.ifPresent(value -> json.put("Request", value));
    return json;
  }

  static Schedule fromRecord(JsonNode json) {
    Members members = new Members(json);
    return new Schedule(
        new Key(json.path("GroupName").asText(), json.path("Name").asText()),
        Definition.parse(members),
        members.time("CreationDate").orElseThrow(),
        members.time("LastModificationDate").orElseThrow(),
        members.text("Request", 0, Integer.MAX_VALUE));
  }
}

package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.data.Journal;
import io.undertow.server.HttpHandler;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * EventBridge Scheduler on one machine: schedules and schedule groups, the HTTP API through which
 * they are managed, and the engine that calls their targets when they are due.
 *
 * <p>Requests over HTTP and calls of the methods here go through the same checks. What is refused
 * is refused with a {@link SchedulerException}.
 */
public final class Scheduler implements AutoCloseable {
  static final String REGION = "us-east-1";
  static final String ACCOUNT = "000000000000";

  /** How many deletions are remembered for their client token. */
  private static final int REMEMBERED_DELETIONS = 1_000;

  private static final int MAX_TAGS = 50;
  private static final String JOURNAL = "scheduler.jsonl";

  private final InstantSource clock;
  private final Targets targets;
  private final Engine engine;
  private final TreeMap<String, Group> groups = new TreeMap<>();
  private final TreeMap<ScheduleKey, Schedule> schedules = new TreeMap<>();
  private final Map<String, Boolean> deletions =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > REMEMBERED_DELETIONS;
        }
      };
  private final Optional<Journal> journal;

  /**
   * Starts a scheduler.
   *
   * @param clock what "due" is judged by; it is looked at every 100 ms of real time
   * @param dataDirectory where schedules and groups are kept, if they are to outlive this object; a
   *     schedule then goes on with its next due time, and what it missed is not made up for
   */
  public Scheduler(InstantSource clock, Targets targets, Optional<Path> dataDirectory) {
    this(clock, targets, Punctuality.EXACT, dataDirectory);
  }

  /** A scheduler that is as punctual as is told. */
  public Scheduler(
      InstantSource clock, Targets targets, Punctuality punctuality, Optional<Path> dataDirectory) {
    this.clock = clock;
    this.targets = targets;
    this.engine = new Engine(clock, targets, punctuality, this::complete);
    Instant now = clock.instant();
    groups.put(Group.DEFAULT, new Group(Group.DEFAULT, now, now, Map.of(), Optional.empty()));
    this.journal =
        dataDirectory.map(
            directory -> Journal.open(directory.resolve(JOURNAL), this::replay, this::records));
    schedules.values().forEach(schedule -> engine.resume(schedule, now));
    engine.start();
  }

  /** The API, for the paths {@code /schedules}, {@code /schedule-groups} and {@code /tags}. */
  public HttpHandler http() {
    return new Api(this);
  }

  /**
   * Waits until everything that is due at the clock's instant has been delivered, has been given up
   * (and dead-lettered), or waits for a later retry.
   */
  public void settle() throws InterruptedException {
    engine.settle();
  }

  /**
   * Brings a group about, as resource {@code AWS::Scheduler::ScheduleGroup} does; one that exists
   * gets the tags.
   *
   * @return its ARN
   */
  public synchronized String putGroup(String name, Map<String, String> tags) {
    Group existing = groups.get(name);
    if (existing == null) {
      return createGroup(name, tags, Optional.empty());
    }
    if (!existing.tags().equals(tags)) {
      retag(existing, tags);
    }
    return existing.arn();
  }

  /**
   * Brings a schedule about, as resource {@code AWS::Scheduler::Schedule} does: creates it, or
   * changes one that stands otherwise.
   *
   * @param properties the resource's properties, which are the members of CreateSchedule; {@code
   *     Name} is ignored
   * @return its ARN
   */
  public synchronized String putSchedule(String name, JsonNode properties) {
    Request request = Request.parse(name, properties);
    Schedule existing = schedules.get(request.key());
    if (existing == null) {
      return createSchedule(name, properties);
    }
    return existing.definition().equals(request.definition())
        ? existing.key().arn()
        : updateSchedule(name, properties);
  }

  /**
   * CreateSchedule.
   *
   * @param members of the request
   * @return the schedule's ARN
   */
  public synchronized String createSchedule(String name, JsonNode members) {
    Request request = Request.parse(name, members);
    requireGroup(request.key().group());
    Optional<String> identity = request.identity("create");
    Schedule existing = schedules.get(request.key());
    if (existing != null) {
      if (identity.isPresent() && identity.equals(existing.request())) {
        return existing.key().arn();
      }
      throw SchedulerException.conflict("Schedule " + name + " already exists.");
    }
    Instant now = clock.instant();
    request.definition().checkDates(now);
    return put(new Schedule(request.key(), request.definition(), now, now, identity), now);
  }

  /**
   * UpdateSchedule: what the request does not say goes back to its default.
   *
   * @param members of the request
   * @return the schedule's ARN
   */
  public synchronized String updateSchedule(String name, JsonNode members) {
    Request request = Request.parse(name, members);
    Schedule existing = schedule(request.key());
    Optional<String> identity = request.identity("update");
    if (identity.isPresent() && identity.equals(existing.request())) {
      return existing.key().arn();
    }
    Instant now = clock.instant();
    if (!request.definition().startDate().equals(existing.definition().startDate())) {
      request.definition().checkDates(now);
    }
    return put(
        new Schedule(request.key(), request.definition(), existing.created(), now, identity), now);
  }

  /** DeleteSchedule. An attempt that is under way goes on; retries are dropped. */
  public synchronized void deleteSchedule(String group, String name, Optional<String> clientToken) {
    Members members = new Members();
    ScheduleKey key = new ScheduleKey(members.name(group, "groupName"), members.name(name, "name"));
    members.clientToken(clientToken);
    members.check();
    if (!schedules.containsKey(key) && wasDeleted(key.arn(), clientToken)) {
      return;
    }
    schedule(key);
    remove(key);
    rememberDeletion(key.arn(), clientToken);
  }

  /**
   * CreateScheduleGroup.
   *
   * @return the group's ARN
   */
  public synchronized String createGroup(
      String name, Map<String, String> tags, Optional<String> clientToken) {
    Members members = new Members();
    members.name(name, "name");
    members.clientToken(clientToken);
    members.check();
    checkTags(tags);
    Group existing = groups.get(name);
    if (existing != null) {
      if (clientToken.isPresent()
          && clientToken.equals(existing.clientToken())
          && existing.tags().equals(tags)) {
        return existing.arn();
      }
      throw SchedulerException.conflict("Schedule group " + name + " already exists.");
    }
    Instant now = clock.instant();
    return put(new Group(name, now, now, tags, clientToken)).arn();
  }

  /** DeleteScheduleGroup: with all its schedules, and at once. */
  public synchronized void deleteGroup(String name, Optional<String> clientToken) {
    Members members = new Members();
    members.name(name, "name");
    members.clientToken(clientToken);
    members.check();
    if (name.equals(Group.DEFAULT)) {
      throw SchedulerException.validation("The default schedule group cannot be deleted.");
    }
    String arn = arn("schedule-group/" + name);
    if (!groups.containsKey(name) && wasDeleted(arn, clientToken)) {
      return;
    }
    requireGroup(name);
    record(Json.object().put("groupDeleted", name));
    keysOf(name).forEach(engine::remove);
    forgetGroup(name);
    rememberDeletion(arn, clientToken);
  }

  /** Stops firing; deliveries under way have some seconds to end. */
  @Override
  public void close() {
    engine.close();
    synchronized (this) {
      journal.ifPresent(Journal::close);
    }
  }

  static String arn(String resource) {
    return "arn:aws:scheduler:" + REGION + ":" + ACCOUNT + ":" + resource;
  }

  synchronized Schedule schedule(ScheduleKey key) {
    Schedule schedule = schedules.get(key);
    if (schedule == null) {
      throw SchedulerException.notFound("Schedule " + key.name() + " does not exist.");
    }
    return schedule;
  }

  synchronized Group requireGroup(String name) {
    Group group = groups.get(name);
    if (group == null) {
      throw SchedulerException.notFound("Schedule group " + name + " does not exist.");
    }
    return group;
  }

  /** The schedules in order of group and name. */
  synchronized List<Schedule> schedules() {
    return List.copyOf(schedules.values());
  }

  /** The groups in order of name. */
  synchronized List<Group> groups() {
    return List.copyOf(groups.values());
  }

  synchronized void tag(Group group, Map<String, String> tags) {
    Map<String, String> all = new TreeMap<>(group.tags());
    all.putAll(tags);
    retag(group, all);
  }

  synchronized void untag(Group group, List<String> keys) {
    Map<String, String> rest = new TreeMap<>(group.tags());
    keys.forEach(rest::remove);
    retag(group, rest);
  }

  private void retag(Group group, Map<String, String> tags) {
    checkTags(tags);
    put(group.tagged(tags, clock.instant()));
  }

  private static void checkTags(Map<String, String> tags) {
    if (tags.size() > MAX_TAGS) {
      throw SchedulerException.validation("A schedule group can have " + MAX_TAGS + " tags.");
    }
  }

  private String put(Schedule schedule, Instant now) {
    targets
        .refusal(schedule.definition().target().rights(schedule.key().groupArn()))
        .ifPresent(
            message -> {
              throw SchedulerException.validation(message);
            });
    record(set("schedule", schedule.toRecord()));
    schedules.put(schedule.key(), schedule);
    engine.put(schedule, now);
    return schedule.key().arn();
  }

  private Group put(Group group) {
    record(set("group", group.toRecord()));
    groups.put(group.name(), group);
    return group;
  }

  private void remove(ScheduleKey key) {
    record(
        set(
            "scheduleDeleted",
            Json.object().put("GroupName", key.group()).put("Name", key.name())));
    schedules.remove(key);
    engine.remove(key);
  }

  private synchronized void complete(Schedule last) {
    if (last.equals(schedules.get(last.key()))) {
      remove(last.key());
    }
  }

  private List<ScheduleKey> keysOf(String group) {
    return List.copyOf(
        schedules
            .tailMap(new ScheduleKey(group, ""), true)
            .headMap(new ScheduleKey(group + "\0", ""), false)
            .keySet());
  }

  private void forgetGroup(String name) {
    keysOf(name).forEach(schedules::remove);
    groups.remove(name);
  }

  private boolean wasDeleted(String arn, Optional<String> clientToken) {
    return clientToken.map(token -> deletions.containsKey(arn + " " + token)).orElse(false);
  }

  private void rememberDeletion(String arn, Optional<String> clientToken) {
    clientToken.ifPresent(token -> deletions.put(arn + " " + token, true));
  }

  private void record(JsonNode line) {
    journal.ifPresent(open -> open.append(line));
  }

  private void replay(JsonNode line) {
    if (line.has("group")) {
      Group group = Group.fromRecord(line.path("group"));
      groups.put(group.name(), group);
    } else if (line.has("schedule")) {
      Schedule schedule = Schedule.fromRecord(line.path("schedule"));
      schedules.put(schedule.key(), schedule);
    } else if (line.has("groupDeleted")) {
      forgetGroup(line.path("groupDeleted").asText());
    } else {
      JsonNode key = line.path("scheduleDeleted");
      schedules.remove(new ScheduleKey(key.path("GroupName").asText(), key.path("Name").asText()));
    }
  }

  private Stream<JsonNode> records() {
    return Stream.concat(
        groups.values().stream().map(group -> set("group", group.toRecord())),
        schedules.values().stream().map(schedule -> set("schedule", schedule.toRecord())));
  }

  private static ObjectNode set(String member, JsonNode value) {
    ObjectNode json = Json.object();
    json.set(member, value);
    return json;
  }

  /** A request to create or update a schedule. */
  private record Request(ScheduleKey key, Definition definition, Optional<String> clientToken) {
    static Request parse(String name, JsonNode json) {
      Members members = new Members();
      members.name(name, "name");
      String group = members.text(json, "GroupName", "groupName", 1, 64).orElse(Group.DEFAULT);
      members.name(group, "groupName");
      Optional<String> token =
          members.clientToken(
              members.text(json, "ClientToken", "clientToken", 1, Integer.MAX_VALUE));
      return new Request(new ScheduleKey(group, name), Definition.parse(members, json), token);
    }

    Optional<String> identity(String operation) {
      return Schedule.request(operation, clientToken, definition);
    }
  }
}

package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Journal;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;

/**
 * EventBridge Scheduler: schedules and schedule groups, their HTTP API, and the engine that calls
 * their targets when they are due.
 *
 * <p>HTTP requests and method calls are checked alike. Refused calls throw an {@link ApiException}.
 */
public final class Scheduler implements AutoCloseable {
  private static final int REMEMBERED_DELETIONS = 1_000;
  private static final int MAX_TAGS = 50;
  private static final String JOURNAL = "scheduler.jsonl";

  private final Environment environment;
  private final InstantSource clock;
  private final Targets targets;
  private final Function<String, Duration> deletionTime;
  private final Engine engine;
  private final TreeMap<String, Group> groups = new TreeMap<>();
  private final TreeMap<Schedule.Key, Schedule> schedules = new TreeMap<>();
  private final Map<String, Boolean> deletions =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > REMEMBERED_DELETIONS;
        }
      };
  private final Journal journal;

  /**
   * Reads the schedules of an earlier run. They fire when {@link #start()} has been called, and
   * then at their next due time: events that the earlier run missed are not delivered.
   *
   * @param delays the delays after a due time at which a schedule, by its name, fires: one for each
   *     event, none if it does not fire. The service promises a precision of one minute and
   *     delivery at least once
   * @param deletionTime how long the deletion of a group takes, by its name
   * @param dataDirectory where schedules and groups are kept across restarts; without it they are
   *     in memory
   */
  public Scheduler(
      Environment environment,
      Targets targets,
      Function<String, List<Duration>> delays,
      Function<String, Duration> deletionTime,
      Optional<Path> dataDirectory) {
    this.environment = environment;
    this.clock = environment.clock();
    this.targets = targets;
    this.deletionTime = deletionTime;
    this.engine = new Engine(environment, targets, delays, this::complete);
    this.journal = new Journal(dataDirectory, JOURNAL);
    Instant now = clock.instant();
    for (JsonNode kept : journal.values().values()) {
      if (kept.has("Target")) {
        Schedule schedule = Schedule.fromRecord(kept);
        schedules.put(schedule.key(), schedule);
        engine.resume(schedule, now);
      } else {
        Group group = Group.fromRecord(kept);
        groups.put(group.name(), group);
      }
    }
    if (!groups.containsKey(Group.DEFAULT)) {
      put(new Group(Group.DEFAULT, now, now, Map.of(), Optional.empty(), Optional.empty()));
    }
  }

  /** Begins to fire. The clock is read every 100 ms of real time. */
  public void start() {
    engine.start();
  }

  /** The API, for the paths {@code /schedules}, {@code /schedule-groups} and {@code /tags}. */
  public HttpHandler http() {
    return new Api(this, environment);
  }

  /**
   * Waits until all events that are due at the clock's instant are delivered, given up (and
   * dead-lettered), or wait for a later retry.
   */
  public void settle() throws InterruptedException {
    engine.settle();
  }

  /**
   * Creates a group as resource {@code AWS::Scheduler::ScheduleGroup} does, or sets the tags of an
   * existing one.
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
    return Group.arn(environment, name);
  }

  /**
   * Creates a schedule as resource {@code AWS::Scheduler::Schedule} does, or changes an existing
   * one that differs.
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
        ? existing.key().arn(environment)
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
    requireActiveGroup(request.key().group());
    Optional<String> identity = request.identity("create");
    Schedule existing = schedules.get(request.key());
    if (existing != null) {
      if (identity.isPresent() && identity.equals(existing.request())) {
        return existing.key().arn(environment);
      }
      throw new ApiException(409, "ConflictException", "Schedule " + name + " already exists.");
    }
    Instant now = clock.instant();
    request.definition().checkDates(now);
    return put(new Schedule(request.key(), request.definition(), now, now, identity), now);
  }

  /**
   * UpdateSchedule. Members that are absent get their default.
   *
   * @param members of the request
   * @return the schedule's ARN
   */
  public synchronized String updateSchedule(String name, JsonNode members) {
    Request request = Request.parse(name, members);
    Schedule existing = schedule(request.key());
    requireActiveGroup(request.key().group());
    Optional<String> identity = request.identity("update");
    if (identity.isPresent() && identity.equals(existing.request())) {
      return existing.key().arn(environment);
    }
    Instant now = clock.instant();
    if (!request.definition().startDate().equals(existing.definition().startDate())) {
      request.definition().checkDates(now);
    }
    return put(
        new Schedule(request.key(), request.definition(), existing.created(), now, identity), now);
  }

  /** DeleteSchedule. An attempt under way continues; retries are dropped. */
  public synchronized void deleteSchedule(String group, String name, Optional<String> clientToken) {
    Schedule.Key key = key(group, name, clientToken);
    if (!schedules.containsKey(key) && wasDeleted(key.arn(environment), clientToken)) {
      return;
    }
    schedule(key);
    remove(key);
    rememberDeletion(key.arn(environment), clientToken);
  }

  /**
   * CreateScheduleGroup.
   *
   * @return the group's ARN
   */
  public synchronized String createGroup(
      String name, Map<String, String> tags, Optional<String> clientToken) {
    var unused = key(Group.DEFAULT, name, clientToken);
    checkTags(tags);
    removeDeleted();
    Group existing = groups.get(name);
    if (existing != null) {
      requireActiveGroup(name);
      if (clientToken.isPresent()
          && clientToken.equals(existing.clientToken())
          && existing.tags().equals(tags)) {
        return Group.arn(environment, name);
      }
      throw new ApiException(
          409, "ConflictException", "Schedule group " + name + " already exists.");
    }
    Instant now = clock.instant();
    put(new Group(name, now, now, tags, clientToken, Optional.empty()));
    return Group.arn(environment, name);
  }

  /**
   * DeleteScheduleGroup. Until the deletion ends, the group is {@code DELETING}, its schedules
   * exist but no longer fire, and nothing can be created in it or with its name.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/scheduler/latest/APIReference/API_DeleteScheduleGroup.html">DeleteScheduleGroup</a>
   */
  public synchronized void deleteGroup(String name, Optional<String> clientToken) {
    var unused = key(Group.DEFAULT, name, clientToken);
    if (name.equals(Group.DEFAULT)) {
      throw ApiException.validation("The default schedule group cannot be deleted.");
    }
    String arn = Group.arn(environment, name);
    Group existing = groups.get(name);
    if ((existing == null || existing.deleted().isPresent()) && wasDeleted(arn, clientToken)) {
      return;
    }
    Group group = requireActiveGroup(name);
    for (Schedule.Key key : keysOf(name)) {
      journal.remove(key.arn(environment));
      engine.remove(key);
    }
    journal.remove(arn);
    groups.put(name, group.deletedAt(clock.instant().plus(deletionTime.apply(name))));
    removeDeleted();
    rememberDeletion(arn, clientToken);
  }

  /** Removes the groups whose deletion has ended, with their schedules. */
  private void removeDeleted() {
    Instant now = clock.instant();
    for (Group group : List.copyOf(groups.values())) {
      if (group.deleted().filter(end -> !end.isAfter(now)).isPresent()) {
        schedules.keySet().removeAll(keysOf(group.name()));
        groups.remove(group.name());
      }
    }
  }

  /** Stops firing. Deliveries under way have five seconds to end. */
  @Override
  public void close() {
    engine.close();
    synchronized (this) {
      journal.close();
    }
  }

  synchronized Schedule schedule(Schedule.Key key) {
    removeDeleted();
    return Optional.ofNullable(schedules.get(key))
        .orElseThrow(() -> ApiException.notFound("Schedule " + key.name() + " does not exist."));
  }

  synchronized Group requireGroup(String name) {
    removeDeleted();
    return Optional.ofNullable(groups.get(name))
        .orElseThrow(() -> ApiException.notFound("Schedule group " + name + " does not exist."));
  }

  private Group requireActiveGroup(String name) {
    Group group = requireGroup(name);
    if (group.deleted().isPresent()) {
      throw new ApiException(
          409, "ConflictException", "Schedule group " + name + " is being deleted.");
    }
    return group;
  }

  /** Checks the names and the client token in a path and its query. */
  static Schedule.Key key(String group, String name, Optional<String> clientToken) {
    Members members = new Members(Json.object());
    Schedule.Key key =
        new Schedule.Key(members.name(group, "groupName"), members.name(name, "name"));
    members.clientToken(clientToken);
    members.check();
    return key;
  }

  synchronized List<Schedule> schedules() {
    removeDeleted();
    return List.copyOf(schedules.values());
  }

  synchronized List<Group> groups() {
    removeDeleted();
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
    requireActiveGroup(group.name());
    put(group.tagged(tags, clock.instant()));
  }

  private static void checkTags(Map<String, String> tags) {
    if (tags.size() > MAX_TAGS) {
      throw ApiException.validation("A schedule group can have " + MAX_TAGS + " tags.");
    }
  }

  private String put(Schedule schedule, Instant now) {
    targets
        .refusal(schedule.rights(environment))
        .ifPresent(
            message -> {
              throw ApiException.validation(message);
            });
    journal.put(schedule.key().arn(environment), schedule.toRecord(environment));
    schedules.put(schedule.key(), schedule);
    engine.put(schedule, now);
    return schedule.key().arn(environment);
  }

  private void put(Group group) {
    journal.put(Group.arn(environment, group.name()), group.toRecord(environment));
    groups.put(group.name(), group);
  }

  private void remove(Schedule.Key key) {
    journal.remove(key.arn(environment));
    schedules.remove(key);
    engine.remove(key);
  }

  private synchronized void complete(Schedule last) {
    if (last.equals(schedules.get(last.key()))) {
      remove(last.key());
    }
  }

  private List<Schedule.Key> keysOf(String group) {
    return List.copyOf(
        schedules
            .tailMap(new Schedule.Key(group, ""), true)
            .headMap(new Schedule.Key(group + "\0", ""), false)
            .keySet());
  }

  private boolean wasDeleted(String arn, Optional<String> clientToken) {
    return clientToken.map(token -> deletions.containsKey(arn + " " + token)).orElse(false);
  }

  private void rememberDeletion(String arn, Optional<String> clientToken) {
    clientToken.ifPresent(token -> deletions.put(arn + " " + token, true));
  }

  /** A request to create or update a schedule. */
  private record Request(Schedule.Key key, Definition definition, Optional<String> clientToken) {
    static Request parse(String name, JsonNode json) {
      Members members = new Members(json);
      members.name(name, "name");
      String group = members.text("GroupName", 1, 64).orElse(Group.DEFAULT);
      members.name(group, "groupName");
      Optional<String> token = members.clientToken();
      return new Request(new Schedule.Key(group, name), Definition.parse(members), token);
    }

    /** Identifies the request for idempotency: a token may be used again for another later. */
    Optional<String> identity(String operation) {
      return clientToken
          .map(token -> operation + "/" + token + "/")
          .map(use -> use + UUID.nameUUIDFromBytes(Json.bytes(definition.toJson())));
    }
  }
}

package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.data.Journal;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.Functions;
import dev.tollgate.local.lambda.LambdaApi.Answer;
import dev.tollgate.local.lambda.LambdaApi.Operation;
import dev.tollgate.local.lambda.LambdaApi.Request;
import dev.tollgate.local.lambda.LambdaException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The event source mappings that there are, and Lambda's API for them. Those created at run time
 * outlast a restart if there is a directory to keep them in.
 *
 * <p>A source is read when a call is seen that puts something into it, when its mapping is created,
 * changed or brought back by a restart, and every second while it is known to hold what may come
 * later. So a source that is empty costs nothing, however many there are.
 */
public final class EventSources implements AutoCloseable {
  /** Ends the name of the principal that reads for a function, after the function's name. */
  public static final String PRINCIPAL_SUFFIX = " event source";

  private static final Set<String> QUEUE_WAKERS =
      Set.of(
          "ChangeMessageVisibility",
          "ChangeMessageVisibilityBatch",
          "SendMessage",
          "SendMessageBatch");
  private static final Set<String> TABLE_WAKERS =
      Set.of(
          "BatchExecuteStatement",
          "BatchWriteItem",
          "DeleteItem",
          "ExecuteStatement",
          "ExecuteTransaction",
          "PutItem",
          "TransactWriteItems",
          "UpdateItem");
  private static final int THREADS = 16;
  private static final int MAX_ITEMS = 100;

  private final InstantSource clock;
  private final String mappingArnPrefix;
  private final ServiceClient client;
  private final FunctionCatalog catalog;
  private final Surroundings surroundings;
  private final Activity activity = new Activity();
  private final ExecutorService pool = Executors.newFixedThreadPool(THREADS, daemons("events"));
  private final ExecutorService waiters = Executors.newCachedThreadPool(daemons("streams"));
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(daemons("event-ticks"));
  private final NavigableMap<String, Mapped> byId = new ConcurrentSkipListMap<>();
  private final Map<String, Set<Mapped>> bySource = new ConcurrentHashMap<>();
  private final Optional<Journal> journal;

  /** A mapping, and what reads for it. */
  private static final class Mapped {
    private volatile Mapping mapping;
    private final Reader reader;

    private Mapped(Mapping mapping, Reader reader) {
      this.mapping = mapping;
      this.reader = reader;
    }
  }

  /**
   * The mappings that were kept. They begin to read when {@link #start()} is called.
   *
   * @param client asks what Lambda itself wants to know
   * @param clients makes a client of a principal's, by name and role
   * @param arnPrefix what the ARNs of mappings begin with, up to {@code :event-source-mapping:}
   * @param directory where mappings that are created are kept; without it they are in memory
   * @param replays whether a stream's records come again after they were processed, by the table
   */
  public EventSources(
      Functions functions,
      FunctionCatalog catalog,
      ServiceClient client,
      BiFunction<String, String, ServiceClient> clients,
      InstantSource clock,
      String arnPrefix,
      Optional<Path> directory,
      Predicate<String> replays,
      Consumer<String> log) {
    this.clock = clock;
    this.catalog = catalog;
    this.mappingArnPrefix = arnPrefix;
    this.client = client;
    this.surroundings =
        new Surroundings(functions, catalog, clients, clock, pool, waiters, activity, replays, log);
    this.journal =
        directory.map(
            path -> Journal.open(path.resolve("mappings.jsonl"), this::replay, this::lines));
    catalog.watch(this::functionCreated);
  }

  /** The ARN of a mapping's function, by the mapping's id. */
  public Optional<String> functionOf(String uuid) {
    return Optional.ofNullable(byId.get(uuid)).map(mapped -> mapped.mapping.functionArn());
  }

  /** Begins to read: all sources once, since nobody knows what they hold. */
  public void start() {
    byId.values().forEach(mapped -> mapped.reader.wake());
    var unused =
        ticks.scheduleWithFixedDelay(
            () -> byId.values().forEach(mapped -> mapped.reader.look()), 1, 1, TimeUnit.SECONDS);
  }

  /** The operations that this serves. */
  public Map<String, Operation> operations() {
    return Map.of(
        "CreateEventSourceMapping", request -> create(request.body()),
        "GetEventSourceMapping", request -> Answer.ok(tell(find(request))),
        "ListEventSourceMappings", this::list,
        "UpdateEventSourceMapping", this::update,
        "DeleteEventSourceMapping", this::delete);
  }

  /**
   * Adds a mapping of the stack, which is the template's to keep.
   *
   * @param name tells it from the stack's others
   * @param members as {@code CreateEventSourceMapping} takes them
   * @return its id
   * @throws LambdaException if it cannot be
   */
  public String add(String name, ObjectNode members) {
    String uuid = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    put(define(uuid, members, true), false);
    return uuid;
  }

  /** Takes notice of a call that was answered: it may have put something into a source. */
  public void saw(Call call) {
    boolean queue = call.service().equals("sqs");
    if (queue && call.operation().equals("StartMessageMoveTask")) {
      byId.values().forEach(mapped -> mapped.reader.wake());
    }
    boolean wakes =
        queue
            ? QUEUE_WAKERS.contains(call.operation())
            : call.service().equals("dynamodb") && TABLE_WAKERS.contains(call.operation());
    if (wakes) {
      for (String resource : call.resource().orElse("").split(",", -1)) {
        bySource
            .getOrDefault(source(queue, resource), Set.of())
            .forEach(mapped -> mapped.reader.wake());
      }
    }
  }

  /**
   * Waits until the sources have nothing to give at the clock's instant and no function is at work
   * on what they gave.
   *
   * @return how many times functions have been invoked so far
   */
  public long settle() throws InterruptedException {
    long done = activity.awaitQuiet();
    long before;
    do {
      before = done;
      byId.values().forEach(mapped -> mapped.reader.look());
      done = activity.awaitQuiet();
    } while (done != before);
    return done;
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    byId.values().forEach(mapped -> mapped.reader.stop());
    pool.shutdownNow();
    waiters.shutdownNow();
    journal.ifPresent(Journal::close);
  }

  private synchronized Answer create(ObjectNode members) {
    Mapping mapping = define(UUID.randomUUID().toString(), members, false);
    Mapped mapped = put(mapping, true);
    append(line(mapping));
    mapped.reader.wake();
    return new Answer(202, tell(mapped));
  }

  private synchronized Answer update(Request request) {
    Mapped mapped = find(request);
    Mapping old = mapped.mapping;
    requireOwn(old);
    ObjectNode members = old.settings().deepCopy();
    members.setAll(request.body());
    if (!request.body().has("FunctionName")) {
      members.put("FunctionName", old.functionArn());
    }
    Mapping changed = define(old.uuid(), members, false);
    mapped.mapping = changed;
    append(line(changed));
    mapped.reader.change(changed);
    return new Answer(202, tell(mapped));
  }

  private synchronized Answer delete(Request request) {
    Mapped mapped = find(request);
    Mapping mapping = mapped.mapping;
    requireOwn(mapping);
    mapped.reader.stop();
    byId.remove(mapping.uuid());
    bySource.getOrDefault(source(mapping), Set.of()).remove(mapped);
    append(JsonNodeFactory.instance.objectNode().put("deleted", mapping.uuid()));
    return new Answer(202, tell(mapped).put("State", "Deleting"));
  }

  private Answer list(Request request) {
    Optional<String> function =
        request
            .query("FunctionName")
            .map(
                name ->
                    catalog
                        .configuration(name)
                        .map(found -> found.path("FunctionArn").asText())
                        .orElse(name));
    Optional<String> source = request.query("EventSourceArn");
    int limit =
        Math.min(MAX_ITEMS, request.query("MaxItems").map(Integer::valueOf).orElse(MAX_ITEMS));
    List<Mapped> rest =
        byId.tailMap(request.query("Marker").orElse(""), false).values().stream()
            .filter(
                mapped ->
                    function.map(mapped.mapping.functionArn()::equals).orElse(true)
                        && source.map(mapped.mapping.sourceArn()::equals).orElse(true))
            .limit(limit + 1L)
            .toList();
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    ArrayNode items = answer.putArray("EventSourceMappings");
    rest.stream().limit(limit).forEach(mapped -> items.add(tell(mapped)));
    if (rest.size() > limit) {
      answer.put("NextMarker", rest.get(limit - 1).mapping.uuid());
    }
    return Answer.ok(answer);
  }

  /** What is asked for, complete, if it may be. */
  private Mapping define(String uuid, ObjectNode members, boolean ofStack) {
    ObjectNode function =
        catalog
            .configuration(members.path("FunctionName").asText())
            .orElseThrow(() -> LambdaException.invalid("Function does not exist"));
    ObjectNode settings = MappingSettings.complete(members);
    settings.set("FunctionArn", function.get("FunctionArn"));
    Mapping mapping = new Mapping(uuid, settings, clock.instant(), ofStack);
    MappingSettings.check(mapping, function, client);
    for (Mapped other : bySource.getOrDefault(source(mapping), Set.of())) {
      if (!other.mapping.uuid().equals(uuid)
          && other.mapping.functionArn().equals(mapping.functionArn())) {
        throw LambdaException.conflict(
            (mapping.isOfQueue()
                    ? "An event source mapping with SQS arn (\" %s \") and function (\" %s \") already exists. Please update or delete the existing mapping with UUID %s"
                    : "The event source arn (\" %s \") and function (\" %s \") provided mapping already exists. Please update or delete the existing mapping with UUID %s")
                .formatted(mapping.sourceArn(), mapping.functionName(), other.mapping.uuid()));
      }
    }
    return mapping;
  }

  private Mapped put(Mapping mapping, boolean isNew) {
    Reader reader =
        mapping.isOfQueue()
            ? new QueueReader(surroundings, mapping)
            : new StreamReader(surroundings, mapping, isNew);
    Mapped mapped = new Mapped(mapping, reader);
    byId.put(mapping.uuid(), mapped);
    bySource.computeIfAbsent(source(mapping), source -> ConcurrentHashMap.newKeySet()).add(mapped);
    return mapped;
  }

  private Mapped find(Request request) {
    Mapped mapped = byId.get(request.name());
    if (mapped == null) {
      throw LambdaException.notFound("The resource you requested does not exist.");
    }
    return mapped;
  }

  private static void requireOwn(Mapping mapping) {
    if (mapping.ofStack()) {
      throw LambdaException.invalid(
          mapping.uuid() + " belongs to the stack, which alone changes it");
    }
  }

  private ObjectNode tell(Mapped mapped) {
    Mapping mapping = mapped.mapping;
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    answer.put("UUID", mapping.uuid());
    answer.put("EventSourceMappingArn", mappingArnPrefix + mapping.uuid());
    answer.setAll(mapping.settings());
    answer.remove("Enabled");
    answer.put("LastModified", BigDecimal.valueOf(mapping.modified().toEpochMilli(), 3));
    answer.put("State", mapping.enabled() ? "Enabled" : "Disabled");
    answer.put("StateTransitionReason", "USER_INITIATED");
    return answer;
  }

  private void functionCreated(String name) {
    byId.values().stream()
        .filter(mapped -> mapped.mapping.functionName().equals(name))
        .forEach(mapped -> mapped.reader.wake());
  }

  private void append(ObjectNode line) {
    journal.ifPresent(lasting -> lasting.append(line));
  }

  private Stream<JsonNode> lines() {
    return byId.values().stream().map(mapped -> line(mapped.mapping));
  }

  private static ObjectNode line(Mapping mapping) {
    ObjectNode line = JsonNodeFactory.instance.objectNode();
    line.put("mapping", mapping.uuid());
    line.set("settings", mapping.settings());
    line.put("modified", mapping.modified().toEpochMilli());
    return line;
  }

  private void replay(JsonNode line) {
    Mapped old = byId.remove(line.path("deleted").asText(line.path("mapping").asText()));
    if (old != null) {
      bySource.getOrDefault(source(old.mapping), Set.of()).remove(old);
    }
    if (line.has("mapping")) {
      put(
          new Mapping(
              line.path("mapping").asText(),
              (ObjectNode) line.path("settings"),
              Instant.ofEpochMilli(line.path("modified").asLong()),
              false),
          false);
    }
  }

  private static String source(Mapping mapping) {
    return source(mapping.isOfQueue(), mapping.sourceName());
  }

  private static String source(boolean queue, String name) {
    return (queue ? "queue " : "table ") + name;
  }

  private static ThreadFactory daemons(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}

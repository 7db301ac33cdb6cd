package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.json.Journal;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.FunctionHost;
import dev.tollgate.local.lambda.LambdaApi;
import dev.tollgate.local.lambda.WorkCounter;
import dev.tollgate.local.rest.Page;
import dev.tollgate.local.rest.RestApi.Answer;
import dev.tollgate.local.rest.RestApi.Operation;
import dev.tollgate.local.rest.RestApi.Request;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.threads.DaemonThreads;
import java.nio.file.Path;
import java.time.Duration;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The event source mappings that exist, and the operations of Lambda's API on them. Mappings that
 * are created at run time are kept across restarts if there is a directory for them.
 *
 * <p>A source is read after each call that adds to it, when its mapping is created, changed or
 * restored, and every second while it holds messages that are not available yet. So an empty source
 * costs nothing.
 */
public final class EventSources implements AutoCloseable {
  /** The principal that reads for a function has the function's name with this suffix. */
  public static final String PRINCIPAL_SUFFIX = " event source";

  /** The operations that may add to a source. */
  private static final Map<String, Pattern> WAKERS =
      Map.of(
          "sqs", Pattern.compile("(ChangeMessageVisibility|SendMessage)(Batch)?"),
          "dynamodb",
              Pattern.compile(
                  "(Delete|Put|Update|BatchWrite)Item|TransactWriteItems|(Batch)?ExecuteStatement|ExecuteTransaction"));

  private static final int THREADS = 16;
  private static final int MAX_ITEMS = 100;

  private final Environment environment;
  private final ServiceClient client;
  private final FunctionCatalog catalog;
  private final Function<Principal, ServiceClient> clients;
  private final Policies policies;
  final FunctionHost functions;
  final InstantSource clock;
  final WorkCounter work = new WorkCounter();

  /** Runs work that does not wait for functions. */
  final ExecutorService pool = Executors.newFixedThreadPool(THREADS, new DaemonThreads("events"));

  /** Runs work that waits for functions. */
  final ExecutorService waiters = Executors.newCachedThreadPool(new DaemonThreads("streams"));

  /** Whether a stream delivers a batch again after it was processed, by the table. */
  final Predicate<String> replays;

  final Consumer<String> log;
  private final Function<String, Duration> changeTime;
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("event-ticks"));
  private final NavigableMap<String, SourceReader> byId = new ConcurrentSkipListMap<>();
  private final Map<String, Set<SourceReader>> bySource = new ConcurrentHashMap<>();
  private final Journal journal;

  /**
   * Restores the mappings that were kept. They begin to read when {@link #start()} is called.
   *
   * @param client makes Lambda's own calls
   * @param clients makes the client of a principal
   * @param policies what a function's role must allow, so that a mapping can be created
   * @param directory where mappings are kept that are created at run time; without it they are in
   *     memory
   * @param replays whether a stream delivers a batch again after it was processed, by the table
   * @param changeTime how long the next change of a mapping takes, by its function's name
   */
  public EventSources(
      FunctionHost functions,
      FunctionCatalog catalog,
      ServiceClient client,
      Function<Principal, ServiceClient> clients,
      Policies policies,
      Environment environment,
      Optional<Path> directory,
      Predicate<String> replays,
      Function<String, Duration> changeTime,
      Consumer<String> log) {
    this.environment = environment;
    this.catalog = catalog;
    this.client = client;
    this.clients = clients;
    this.policies = policies;
    this.functions = functions;
    this.clock = environment.clock();
    this.replays = replays;
    this.changeTime = changeTime;
    this.log = log;
    this.journal = new Journal(directory, "mappings.jsonl");
    journal.values().forEach((uuid, kept) -> put(restored(uuid, kept), false));
    catalog.watch(
        name ->
            byId.values().stream()
                .filter(reader -> reader.mapping().functionName().equals(name))
                .forEach(SourceReader::wake));
  }

  /** The ARN of a mapping's function, by the mapping's id. */
  public Optional<String> functionOf(String uuid) {
    return Optional.ofNullable(byId.get(uuid)).map(reader -> reader.mapping().functionArn());
  }

  /** Begins to read. All sources are read once, because they may hold something. */
  public void start() {
    byId.values().forEach(SourceReader::wake);
    var unused =
        ticks.scheduleWithFixedDelay(
            () -> byId.values().forEach(SourceReader::look), 1, 1, TimeUnit.SECONDS);
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
   * Adds a mapping of the stack. Only the template changes it, and it is not kept.
   *
   * @param uuid its id
   * @param members as {@code CreateEventSourceMapping} takes them
   * @throws ApiException if it is refused
   */
  public void add(String uuid, ObjectNode members) {
    put(define(uuid, members, true), false);
  }

  /** Observes an answered call, which may have added to a source. */
  public void saw(Call call) {
    boolean queue = call.service().equals("sqs");
    Pattern wakers = WAKERS.get(call.service());
    if (queue && call.operation().equals("StartMessageMoveTask")) {
      byId.values().forEach(SourceReader::wake);
    } else if (wakers != null && wakers.matcher(call.operation()).matches()) {
      for (String resource : call.resource().orElse("").split(",", -1)) {
        readers(source(queue, resource)).forEach(SourceReader::wake);
      }
    }
  }

  /**
   * Waits until the sources hold nothing that is available at the clock's instant and all
   * invocations have ended.
   *
   * @return how many times functions have been invoked so far
   */
  public long settle() throws InterruptedException {
    long done = work.awaitQuiet();
    long before;
    do {
      before = done;
      byId.values().forEach(SourceReader::look);
      done = work.awaitQuiet();
    } while (done != before);
    return done;
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    byId.values().forEach(SourceReader::stop);
    pool.shutdownNow();
    waiters.shutdownNow();
    journal.close();
  }

  private synchronized Answer create(ObjectNode members) {
    Mapping mapping = changed("Creating", define(UUID.randomUUID().toString(), members, false));
    SourceReader reader = put(mapping, true);
    journal.put(mapping.uuid(), kept(mapping));
    reader.wake();
    return new Answer(202, tell(reader));
  }

  private synchronized Answer update(Request request) {
    SourceReader reader = findToChange("update", request);
    Mapping old = reader.mapping();
    ObjectNode members = old.settings().deepCopy();
    members.setAll(request.body());
    if (!request.body().has("FunctionName")) {
      members.put("FunctionName", old.functionArn());
    }
    Mapping changed = changed("Updating", define(old.uuid(), members, false));
    journal.put(old.uuid(), kept(changed));
    reader.change(changed);
    return new Answer(202, tell(reader));
  }

  private synchronized Answer delete(Request request) {
    SourceReader reader = findToChange("delete", request);
    reader.stop();
    reader.change(changed(Mapping.DELETING, reader.mapping()));
    journal.remove(reader.mapping().uuid());
    Answer answer = new Answer(202, tell(reader).put("State", Mapping.DELETING));
    removeDeleted();
    return answer;
  }

  private Mapping changed(String state, Mapping mapping) {
    Duration time = changeTime.apply(mapping.functionName());
    return mapping.with(new Mapping.Change(state, clock.instant().plus(time)));
  }

  /** Removes the mappings whose deletion is complete. */
  private void removeDeleted() {
    for (SourceReader reader : List.copyOf(byId.values())) {
      Mapping mapping = reader.mapping();
      if (mapping.isDeleted() && !mapping.isChangingAt(clock.instant())) {
        byId.remove(mapping.uuid());
        readers(source(mapping)).remove(reader);
      }
    }
  }

  private synchronized Answer list(Request request) {
    removeDeleted();
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
    Page<SourceReader> page =
        Page.of(
            byId.values().stream()
                .filter(
                    reader ->
                        function.map(reader.mapping().functionArn()::equals).orElse(true)
                            && source.map(reader.mapping().sourceArn()::equals).orElse(true)),
            reader -> reader.mapping().uuid(),
            request.query("Marker"),
            limit);
    ObjectNode answer = Json.object();
    ArrayNode items = answer.putArray("EventSourceMappings");
    page.items().forEach(reader -> items.add(tell(reader)));
    page.next().ifPresent(next -> answer.put("NextMarker", next));
    return Answer.ok(answer);
  }

  /** A complete and valid mapping of the members of a request. */
  private Mapping define(String uuid, ObjectNode members, boolean ofStack) {
    ObjectNode function =
        catalog
            .configuration(members.path("FunctionName").asText())
            .orElseThrow(() -> LambdaApi.invalid("Function does not exist"));
    ObjectNode settings = MappingSettings.complete(members);
    settings.set("FunctionArn", function.get("FunctionArn"));
    Mapping mapping = new Mapping(uuid, settings, clock.instant(), ofStack, Mapping.Change.NONE);
    Principal reader = reader(mapping, function);
    MappingSettings.check(
        mapping, function, client, access -> policies.denial(reader, access).isEmpty());
    removeDeleted();
    for (SourceReader other : readers(source(mapping))) {
      if (!other.mapping().uuid().equals(uuid)
          && other.mapping().functionArn().equals(mapping.functionArn())) {
        throw LambdaApi.conflict(
            (mapping.isOfQueue()
                    ? "An event source mapping with SQS arn (\" %s \") and function (\" %s \") already exists. Please update or delete the existing mapping with UUID %s"
                    : "The event source arn (\" %s \") and function (\" %s \") provided mapping already exists. Please update or delete the existing mapping with UUID %s")
                .formatted(mapping.sourceArn(), mapping.functionName(), other.mapping().uuid()));
      }
    }
    return mapping;
  }

  private SourceReader put(Mapping mapping, boolean isNew) {
    SourceReader reader =
        mapping.isOfQueue()
            ? new QueueReader(this, mapping)
            : new StreamReader(this, mapping, isNew);
    byId.put(mapping.uuid(), reader);
    bySource.computeIfAbsent(source(mapping), source -> ConcurrentHashMap.newKeySet()).add(reader);
    return reader;
  }

  private Set<SourceReader> readers(String source) {
    return bySource.getOrDefault(source, Set.of());
  }

  private SourceReader findToChange(String operation, Request request) {
    SourceReader reader = find(request);
    requireOwn(reader.mapping());
    if (reader.mapping().isChangingAt(clock.instant())) {
      throw new ApiException(
          400,
          "ResourceInUseException",
          "Cannot " + operation + " the event source mapping because it is in use.");
    }
    return reader;
  }

  private synchronized SourceReader find(Request request) {
    removeDeleted();
    SourceReader reader = byId.get(request.name());
    if (reader == null) {
      throw ApiException.notFound("The resource you requested does not exist.");
    }
    return reader;
  }

  private static void requireOwn(Mapping mapping) {
    if (mapping.ofStack()) {
      throw LambdaApi.invalid(mapping.uuid() + " belongs to the stack, which alone changes it");
    }
  }

  private ObjectNode tell(SourceReader reader) {
    Mapping mapping = reader.mapping();
    ObjectNode answer = Json.object();
    answer.put("UUID", mapping.uuid());
    answer.put(
        "EventSourceMappingArn",
        environment.arn("lambda", "event-source-mapping:" + mapping.uuid()));
    answer.setAll(mapping.settings());
    answer.remove("Enabled");
    answer.put("LastModified", Json.epochSeconds(mapping.modified()));
    answer.put(
        "State",
        mapping.isChangingAt(clock.instant())
            ? mapping.change().state()
            : mapping.enabled() ? "Enabled" : "Disabled");
    answer.put("StateTransitionReason", "USER_INITIATED");
    return answer;
  }

  /**
   * A client with the rights of a mapping's function. Its calls are recorded under another name
   * than the calls that the function makes itself.
   */
  ServiceClient client(Mapping mapping) {
    ObjectNode function = catalog.configuration(mapping.functionArn()).orElseGet(Json::object);
    return clients.apply(reader(mapping, function));
  }

  /** Reads for a function, with the rights of its role. */
  private static Principal reader(Mapping mapping, ObjectNode function) {
    return Principal.of(mapping.functionName() + PRINCIPAL_SUFFIX, function.path("Role").asText());
  }

  private static ObjectNode kept(Mapping mapping) {
    return Json.object("settings", mapping.settings())
        .put("modified", mapping.modified().toEpochMilli());
  }

  private static Mapping restored(String uuid, JsonNode kept) {
    Instant modified = Instant.ofEpochMilli(kept.path("modified").asLong());
    return new Mapping(
        uuid, (ObjectNode) kept.path("settings"), modified, false, Mapping.Change.NONE);
  }

  private static String source(Mapping mapping) {
    return source(mapping.isOfQueue(), mapping.sourceName());
  }

  private static String source(boolean queue, String name) {
    return (queue ? "queue " : "table ") + name;
  }
}

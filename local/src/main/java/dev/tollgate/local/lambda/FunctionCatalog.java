package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Journal;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import dev.tollgate.local.rest.RestApi.Answer;
import dev.tollgate.local.rest.RestApi.Operation;
import dev.tollgate.local.rest.RestApi.Request;
import dev.tollgate.local.template.Environment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The functions that exist, and the operations of Lambda's API on them. Functions of the stack
 * belong to the template. Other functions are created, changed and deleted at run time, and kept
 * across restarts if there is a directory for them.
 */
public final class FunctionCatalog implements AutoCloseable {
  private static final long MEBIBYTE = 1 << 20;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSxx").withZone(ZoneOffset.UTC);

  private final FunctionHost functions;
  private final Environment environment;
  private final Account account;
  private final CodeStore store;
  private final Journal journal;

  /** The published versions of functions: for each an array of what identifies them. */
  private final Journal versions;

  private final TreeMap<String, Entry> byName = new TreeMap<>();
  private final List<Consumer<String>> watchers = new ArrayList<>();

  /**
   * What functions use of their account.
   *
   * @param variables environment variables of every function
   * @param traceDaemon gives the address of the X-Ray daemon, for functions that are traced
   * @param roles tells whether Lambda can assume a role
   * @param objects finds the file that is deployed under a bucket and key
   * @param changeTime how long the next change of a function takes, by its name
   */
  public record Account(
      Map<String, String> variables,
      Supplier<String> traceDaemon,
      Predicate<String> roles,
      BiFunction<String, String, Optional<Path>> objects,
      Function<String, Duration> changeTime) {}

  /**
   * The last change of a function.
   *
   * @param creates whether it created the function
   * @param done when it is complete
   */
  private record Change(boolean creates, Instant done) {
    private static final Change NONE = new Change(false, Instant.MIN);
  }

  /**
   * A function.
   *
   * @param settings its configuration, with the members of the API
   * @param qualifiers the versions of its versions and aliases, by name
   * @param ofStack whether the template defines it
   */
  private record Entry(
      String name,
      ObjectNode settings,
      Path jar,
      Map<String, String> qualifiers,
      OptionalInt reservedConcurrency,
      Instant modified,
      String revision,
      boolean ofStack,
      Change change) {}

  /**
   * A catalog with the functions that were kept.
   *
   * @param directory where functions are kept that are created at run time; without it they are in
   *     memory
   */
  public FunctionCatalog(
      FunctionHost functions, Environment environment, Account account, Optional<Path> directory) {
    this.functions = functions;
    this.environment = environment;
    this.account = account;
    this.store = new CodeStore(directory.map(path -> path.resolve("code")));
    this.journal = new Journal(directory, "functions.jsonl");
    this.versions = new Journal(directory, "versions.jsonl");
    journal.values().forEach((name, kept) -> byName.put(name, restored(name, kept)));
    store.retain(byName.values().stream().map(entry -> store.read(entry.jar()).sha256()).toList());
    byName.values().forEach(entry -> functions.put(spec(entry)));
  }

  /** The operations that this serves. */
  public Map<String, Operation> operations() {
    return Map.of(
        "CreateFunction", this::create,
        "GetFunction", this::get,
        "GetFunctionConfiguration", this::getConfiguration,
        "UpdateFunctionCode", this::updateCode,
        "UpdateFunctionConfiguration", this::updateConfiguration,
        "DeleteFunction", this::delete,
        "GetAccountSettings", this::accountSettings);
  }

  /** Adds an observer that receives the name of each function that is created. */
  public synchronized void watch(Consumer<String> watcher) {
    watchers.add(watcher);
  }

  /**
   * Adds a function of the stack. Only the template changes it, and it is not kept.
   *
   * @param settings its configuration, with the members of the API
   * @throws IllegalArgumentException if a function has the same name already
   */
  public synchronized void add(
      String name, ObjectNode settings, Path jar, OptionalInt reservedConcurrency) {
    if (byName.containsKey(name)) {
      throw new IllegalArgumentException(name + " is defined already");
    }
    Entry entry =
        new Entry(
            name,
            settings,
            jar,
            new LinkedHashMap<>(),
            reservedConcurrency,
            now(),
            UUID.randomUUID().toString(),
            true,
            Change.NONE);
    byName.put(name, entry);
    functions.put(spec(entry));
  }

  /**
   * Adds a version or an alias to a function of the stack.
   *
   * @param qualifier the number of the version or the name of the alias
   * @return false if there is no such function
   */
  public synchronized boolean qualify(String function, String qualifier, String version) {
    Entry entry = byName.get(function);
    if (entry == null || !entry.ofStack()) {
      return false;
    }
    entry.qualifiers().put(qualifier, version);
    functions.put(spec(entry));
    return true;
  }

  /**
   * The number of a published version of a function. Numbers are kept across restarts if there is a
   * directory for them.
   *
   * @param identity identifies the version among the versions of the function
   */
  public synchronized String version(String function, String identity) {
    List<String> published = new ArrayList<>();
    versions.get(function).forEach(known -> published.add(known.asText()));
    if (!published.contains(identity)) {
      published.add(identity);
      versions.put(function, Json.MAPPER.valueToTree(published));
    }
    return Integer.toString(published.indexOf(identity) + 1);
  }

  /**
   * The configuration of a function, as {@code GetFunctionConfiguration} returns it.
   *
   * @param function name, ARN or partial ARN, with or without a qualifier
   */
  public synchronized Optional<ObjectNode> configuration(String function) {
    Reference reference = Reference.of(function, Optional.empty());
    return Optional.ofNullable(byName.get(reference.name()))
        .filter(entry -> reference.isOf(entry))
        .map(entry -> configuration(entry, reference.qualifier()));
  }

  /** The log groups of all functions, by the functions' names. */
  public synchronized Map<String, String> logGroups() {
    Map<String, String> groups = new HashMap<>();
    byName.forEach(
        (name, entry) -> groups.put(name, entry.settings().at("/LoggingConfig/LogGroup").asText()));
    return groups;
  }

  @Override
  public void close() {
    journal.close();
    versions.close();
  }

  private Answer create(Request request) {
    ObjectNode wanted = request.body();
    String name = Reference.of(FunctionSettings.name(wanted), Optional.empty()).name();
    ObjectNode settings = FunctionSettings.ofNew(wanted);
    requireRole(settings);
    Path jar = code(wanted.path("Code"));
    if (wanted.path("Publish").asBoolean()) {
      throw LambdaApi.invalid("Publish: true (expected: false; versions are the stack's)");
    }
    Answer answer;
    synchronized (this) {
      if (byName.containsKey(name)) {
        throw LambdaApi.conflict("Function already exist: " + name);
      }
      FunctionSettings.complete(settings, name);
      answer = new Answer(201, put(name, settings, jar));
    }
    watchers.forEach(watcher -> watcher.accept(name));
    return answer;
  }

  private synchronized Answer get(Request request) {
    Entry entry = find(Reference.of(request));
    ObjectNode answer = Json.object("Configuration", getConfiguration(request).body());
    answer
        .putObject("Code")
        .put("RepositoryType", "S3")
        .put("Location", entry.jar().toUri().toString());
    entry
        .reservedConcurrency()
        .ifPresent(
            reserved ->
                answer.putObject("Concurrency").put("ReservedConcurrentExecutions", reserved));
    return Answer.ok(answer);
  }

  private synchronized Answer getConfiguration(Request request) {
    Reference reference = Reference.of(request);
    return Answer.ok(configuration(find(reference), reference.qualifier()));
  }

  private Answer updateCode(Request request) {
    Path jar = code(request.body());
    synchronized (this) {
      Entry entry = findToChange(request);
      ObjectNode settings = entry.settings().deepCopy();
      JsonNode architectures = request.body().path("Architectures");
      if (architectures.isArray()) {
        settings.set("Architectures", architectures);
      }
      return Answer.ok(put(entry.name(), settings, jar));
    }
  }

  private synchronized Answer updateConfiguration(Request request) {
    Entry entry = findToChange(request);
    ObjectNode settings = entry.settings().deepCopy();
    settings.setAll(FunctionSettings.ofChange(request.body()));
    FunctionSettings.complete(settings, entry.name());
    requireRole(settings);
    return Answer.ok(put(entry.name(), settings, entry.jar()));
  }

  private synchronized Answer delete(Request request) {
    Entry entry = findToChange(request);
    byName.remove(entry.name());
    functions.remove(entry.name());
    journal.remove(entry.name());
    return new Answer(204, NullNode.getInstance());
  }

  /** The quotas of the account. Versions and aliases do not count as code in use. */
  private synchronized Answer accountSettings(Request request) {
    int reserved =
        byName.values().stream().mapToInt(entry -> entry.reservedConcurrency().orElse(0)).sum();
    long used = byName.values().stream().mapToLong(entry -> store.read(entry.jar()).size()).sum();
    ObjectNode answer = Json.object();
    answer
        .putObject("AccountLimit")
        .put("CodeSizeUnzipped", 250 * MEBIBYTE)
        .put("CodeSizeZipped", 50 * MEBIBYTE)
        .put("ConcurrentExecutions", functions.quota())
        .put("TotalCodeSize", 75 * 1_024 * MEBIBYTE)
        .put("UnreservedConcurrentExecutions", functions.quota() - reserved);
    answer.putObject("AccountUsage").put("FunctionCount", byName.size()).put("TotalCodeSize", used);
    return Answer.ok(answer);
  }

  /** Creates or changes a function and returns its configuration. */
  private ObjectNode put(String name, ObjectNode settings, Path jar) {
    Change change =
        new Change(!byName.containsKey(name), now().plus(account.changeTime().apply(name)));
    Entry entry = created(name, settings, jar, now(), UUID.randomUUID().toString(), change);
    byName.put(name, entry);
    functions.put(spec(entry));
    journal.put(name, kept(entry));
    return configuration(entry, Optional.empty());
  }

  private FunctionSpec spec(Entry entry) {
    ObjectNode settings = entry.settings();
    Map<String, String> variables = new LinkedHashMap<>();
    settings
        .at("/Environment/Variables")
        .properties()
        .forEach(variable -> variables.put(variable.getKey(), variable.getValue().asText()));
    int memoryMb = settings.path("MemorySize").asInt();
    variables.putAll(account.variables());
    if (settings.at("/TracingConfig/Mode").asText().equals("Active")) {
      variables.put(FunctionSpec.TRACE_DAEMON, account.traceDaemon().get());
    }
    variables.put("AWS_LAMBDA_FUNCTION_NAME", entry.name());
    variables.put("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", Integer.toString(memoryMb));
    List<String> arns = new ArrayList<>(List.of(arn(entry.name())));
    entry.qualifiers().keySet().forEach(qualifier -> arns.add(arn(entry.name()) + ":" + qualifier));
    return new FunctionSpec(
        entry.name(),
        arns,
        entry.jar(),
        settings.path("Runtime").asText(),
        settings.path("Handler").asText(),
        settings.path("Role").asText(),
        variables,
        Duration.ofSeconds(settings.path("Timeout").asInt()),
        memoryMb,
        entry.reservedConcurrency());
  }

  private ObjectNode configuration(Entry entry, Optional<String> qualifier) {
    ObjectNode answer = Json.object();
    answer.put("FunctionName", entry.name());
    answer.put("FunctionArn", arn(entry.name()) + qualifier.map(text -> ":" + text).orElse(""));
    answer.setAll(entry.settings());
    if (entry.settings().at("/Environment/Variables").isEmpty()) {
      answer.remove("Environment");
    }
    CodeStore.Code code = store.read(entry.jar());
    answer.put("CodeSha256", code.base64());
    answer.put("CodeSize", code.size());
    answer.put("LastModified", TIME.format(entry.modified().truncatedTo(ChronoUnit.MILLIS)));
    answer.put(
        "Version",
        qualifier.map(text -> entry.qualifiers().getOrDefault(text, text)).orElse("$LATEST"));
    answer.put("RevisionId", entry.revision());
    boolean changing = isChanging(entry);
    if (changing && entry.change().creates()) {
      answer.put("State", "Pending");
      answer.put("StateReason", "The function is being created.");
      answer.put("StateReasonCode", "Creating");
    } else {
      answer.put("State", "Active");
    }
    answer.put("LastUpdateStatus", changing ? "InProgress" : "Successful");
    return answer;
  }

  private boolean isChanging(Entry entry) {
    return now().isBefore(entry.change().done());
  }

  /**
   * Refuses what cannot be done with a function while it is created.
   *
   * @throws ApiException if the function is {@code Pending}
   */
  public synchronized void requireActive(String function) {
    Entry entry = byName.get(Reference.of(function, Optional.empty()).name());
    if (entry != null && entry.change().creates() && isChanging(entry)) {
      throw LambdaApi.conflict(
          "The operation cannot be performed at this time. "
              + "The function is currently in the following state: Pending");
    }
  }

  private Entry find(Reference reference) {
    Entry entry = byName.get(reference.name());
    if (entry == null || !reference.isOf(entry)) {
      throw ApiException.notFound(
          "Function not found: "
              + arn(reference.name())
              + reference.qualifier().map(text -> ":" + text).orElse(""));
    }
    return entry;
  }

  private Entry findToChange(Request request) {
    Entry entry = find(Reference.of(request));
    if (entry.ofStack()) {
      throw LambdaApi.invalid(entry.name() + " belongs to the stack, which alone changes it");
    }
    requireActive(entry.name());
    if (isChanging(entry)) {
      throw LambdaApi.conflict(
          "The operation cannot be performed at this time. An update is in progress for resource: "
              + arn(entry.name()));
    }
    String revision = request.body().path("RevisionId").asText(entry.revision());
    if (!revision.equals(entry.revision())) {
      throw LambdaApi.stale();
    }
    return entry;
  }

  private void requireRole(ObjectNode settings) {
    if (!account.roles().test(settings.path("Role").asText())) {
      throw LambdaApi.invalid("The role defined for the function cannot be assumed by Lambda.");
    }
  }

  /** The package in a request, or the one that a request refers to. */
  private Path code(JsonNode wanted) {
    if (wanted.path("ZipFile").isTextual()) {
      return store.keep(FunctionSettings.zip(wanted));
    }
    if (!wanted.path("S3Bucket").isTextual() || !wanted.path("S3Key").isTextual()) {
      throw LambdaApi.invalid("Please provide a source for function code.");
    }
    return store.keep(
        account
            .objects()
            .apply(wanted.path("S3Bucket").asText(), wanted.path("S3Key").asText())
            .orElseThrow(
                () ->
                    LambdaApi.invalid(
                        "Error occurred while GetObject. S3 Error Code: NoSuchKey. "
                            + "S3 Error Message: The specified key does not exist.")));
  }

  private Instant now() {
    return environment.clock().instant();
  }

  private String arn(String function) {
    return environment.arn("lambda", "function:" + function);
  }

  private static Entry created(
      String name,
      ObjectNode settings,
      Path jar,
      Instant modified,
      String revision,
      Change change) {
    return new Entry(
        name, settings, jar, Map.of(), OptionalInt.empty(), modified, revision, false, change);
  }

  private ObjectNode kept(Entry entry) {
    ObjectNode kept = Json.object();
    kept.set("settings", entry.settings());
    kept.put("code", store.read(entry.jar()).sha256());
    kept.put("modified", entry.modified().toEpochMilli());
    kept.put("revision", entry.revision());
    return kept;
  }

  private Entry restored(String name, JsonNode kept) {
    String sha256 = kept.path("code").asText();
    return created(
        name,
        (ObjectNode) kept.path("settings"),
        store
            .find(sha256)
            .orElseThrow(() -> new IllegalStateException(name + ": its code is gone: " + sha256)),
        Instant.ofEpochMilli(kept.path("modified").asLong()),
        kept.path("revision").asText(),
        Change.NONE);
  }

  /** A reference to a function in a request. */
  private record Reference(String name, Optional<String> qualifier) {
    static Reference of(Request request) {
      return of(request.name(), request.query("Qualifier"));
    }

    static Reference of(String text, Optional<String> qualifier) {
      int marker = text.lastIndexOf("function:");
      String local = marker < 0 ? text : text.substring(marker + "function:".length());
      String[] parts = local.split(":", 2);
      return new Reference(
          parts[0],
          (parts.length == 2 ? Optional.of(parts[1]) : qualifier)
              .filter(version -> !version.equals("$LATEST")));
    }

    boolean isOf(Entry entry) {
      return qualifier.map(entry.qualifiers()::containsKey).orElse(true);
    }
  }
}

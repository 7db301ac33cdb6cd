package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.prove.account.Stacks;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.verify.HttpDeployment;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * One proof on an account: what is deployed, and what was found. It is kept in a file, so that the
 * next run goes on where this one ended.
 */
final class Run {
  /** Two schedules of the probe stack delete both stacks after this time. */
  static final Duration LIFETIME = Duration.ofHours(2);

  private static final String FILE = "run.json";
  private static final String STEPS = "steps";
  private static final String BEGUN = "begun";
  private static final String CENTS = "cents";

  /** Changes with the members of the file or the names of steps. */
  private static final int FORMAT = 2;

  private static final String TEARING_DOWN = "tearingDown";

  private final Settings settings;
  private final Shell shell;
  private final Stacks stacks;
  private final InstantSource clock;
  private final ObjectNode state;

  /**
   * What the user chose.
   *
   * @param prefix begins the names of the stacks and of what the control plane creates; ends with
   *     an underscore
   * @param directory where the run keeps its files
   * @param answers the recorded answers
   * @param email the address that gets the alarm of the budget; without it there is no budget
   * @param tenants the tenants of the load minute, at least 1
   * @param handshakes its handshakes, at least 1
   * @param parallel the checks of {@code verify} that run at once, at least 1
   */
  record Settings(
      String prefix,
      Path directory,
      Path answers,
      Optional<String> email,
      int tenants,
      int handshakes,
      int parallel) {
    Settings {
      if (Math.min(parallel, Math.min(tenants, handshakes)) < 1) {
        throw new IllegalArgumentException(
            "tenants, handshakes, parallel: %d, %d, %d (expected: at least 1)"
                .formatted(tenants, handshakes, parallel));
      }
    }
  }

  private Run(
      Settings settings, Shell shell, Stacks stacks, InstantSource clock, ObjectNode state) {
    this.settings = settings;
    this.shell = shell;
    this.stacks = stacks;
    this.clock = clock;
    this.state = state;
  }

  /**
   * The run in the directory of the settings; a new one if there is none, or if its teardown has
   * ended and {@code begins}.
   *
   * @throws Failure if its file cannot be read, or is of another account, Region or version
   */
  static Run open(
      Settings settings, Shell shell, Stacks stacks, InstantSource clock, boolean begins) {
    Path file = settings.directory().resolve(FILE);
    String account = AwsAccount.number(stacks.account());
    String region = stacks.account().region();
    if (!Files.exists(file)) {
      return begun(settings, shell, stacks, clock, account, region);
    }
    try {
      ObjectNode state = checked(settings, shell.shown(file).toString(), Files.readString(file));
      String where = state.path("account").asText() + " " + state.path("region").asText();
      if (!where.equals(account + " " + region)) {
        throw Failure.usage(
            "%s is of account %s (expected: %s %s). Use its credentials, or another --prefix."
                .formatted(shell.shown(file), where, account, region));
      }
      if (!state.path("prefix").asText().equals(settings.prefix())) {
        throw Failure.usage(
            "%s is of --prefix %s (expected: %s). Use that, or another --directory."
                .formatted(shell.shown(file), state.path("prefix").asText(), settings.prefix()));
      }
      Run run = new Run(settings, shell, stacks, clock, state);
      // The clouds of a rehearsal end with their process, so that none can go on.
      if (begins && (stacks.areLocal() || run.findings(Teardown.NAME).isPresent())) {
        return begun(settings, shell, stacks, clock, account, region);
      }
      // Steps that another version took prove nothing about this one, which can still delete.
      if (begins && state.path("format").asInt() != FORMAT) {
        throw Failure.usage(
            "%s is of another version of Tollgate. Delete what that run created with"
                    .formatted(shell.shown(file))
                + " --teardown, and begin again.");
      }
      return run;
    } catch (IOException e) {
      throw Failure.unreadable(shell.shown(file), e);
    }
  }

  /** The content of the file of a run. Without the run's id, its stacks could be anybody's. */
  private static ObjectNode checked(Settings settings, String file, String text) {
    Optional<ObjectNode> state =
        Json.parse(text)
            .filter(ObjectNode.class::isInstance)
            .map(ObjectNode.class::cast)
            .filter(it -> Json.text(it, "id").filter(id -> !id.isBlank()).isPresent())
            .filter(it -> Json.text(it, "beganAt").filter(Run::isTime).isPresent());
    return state.orElseThrow(
        () ->
            Failure.usage(
                "%s is damaged, so that this command cannot tell its stacks from those of others. If"
                        .formatted(file)
                    + " the stacks %s and %s exist and have the tag tollgate-prove, delete them in"
                        .formatted(stackName(settings), probeName(settings))
                    + " CloudFormation, with what begins with %s. Then delete the file."
                        .formatted(settings.prefix())));
  }

  private static boolean isTime(String text) {
    try {
      Instant.parse(text);
      return true;
    } catch (DateTimeParseException e) {
      return false;
    }
  }

  private static Run begun(
      Settings settings,
      Shell shell,
      Stacks stacks,
      InstantSource clock,
      String account,
      String region) {
    ObjectNode state = Json.object();
    state
        .put("format", FORMAT)
        .put("id", UUID.randomUUID().toString())
        .put("prefix", settings.prefix())
        .put("account", account)
        .put("region", region)
        .put("beganAt", clock.instant().truncatedTo(ChronoUnit.SECONDS).toString())
        .putArray(STEPS);
    return new Run(settings, shell, stacks, clock, state);
  }

  Settings settings() {
    return settings;
  }

  Shell shell() {
    return shell;
  }

  Stacks stacks() {
    return stacks;
  }

  Instant now() {
    return clock.instant();
  }

  String account() {
    return state.path("account").asText();
  }

  Instant beganAt() {
    return Instant.parse(state.path("beganAt").asText());
  }

  /** Whether something that takes this long can end before the stacks are deleted by themselves. */
  boolean hasTimeFor(Duration duration) {
    return !now().plus(duration).isAfter(beganAt().plus(LIFETIME));
  }

  /** Remembers that what the stacks have may be gone in part. */
  void beginTeardown() {
    state.put(TEARING_DOWN, true);
    save();
  }

  boolean isTearingDown() {
    return state.path(TEARING_DOWN).asBoolean();
  }

  // Stacks

  String stackName() {
    return stackName(settings);
  }

  private static String stackName(Settings settings) {
    return "Tollgate-" + settings.prefix().replace("_", "");
  }

  String probeName() {
    return probeName(settings);
  }

  private static String probeName(Settings settings) {
    return stackName(settings) + "-probe";
  }

  /** Creates or updates a stack, and remembers that it exists. */
  void deploy(String name, Map<String, String> context) {
    state.withObject("/stacks").set(name, Json.object(context));
    save();
    try {
      // Those of an earlier run in this directory are of APIs that are gone.
      Files.deleteIfExists(outputsFile(name));
    } catch (IOException e) {
      throw Failure.of("Cannot delete " + shell.shown(outputsFile(name)) + ": " + e, e);
    }
    stacks.deploy(name, id(), context, outputsFile(name));
  }

  /** Deletes a stack that this run has created. */
  void destroy(String name) {
    stacks.destroy(name, id(), deployed().getOrDefault(name, Map.of()));
    state.withObject("/stacks").remove(name);
    save();
  }

  /** Tells this run's stacks from those of others. */
  String id() {
    return state.path("id").asText();
  }

  /** The context values of the stacks that this run has created, by their names. */
  Map<String, Map<String, String>> deployed() {
    Map<String, Map<String, String>> deployed = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> stack : state.path("stacks").properties()) {
      Map<String, String> context = new LinkedHashMap<>();
      stack.getValue().properties().forEach(it -> context.put(it.getKey(), it.getValue().asText()));
      deployed.put(stack.getKey(), context);
    }
    return deployed;
  }

  Path outputsFile(String name) {
    return settings.directory().resolve(name).resolve("outputs.json");
  }

  Map<String, String> outputs(String name) {
    try {
      JsonNode all = Json.read(name, Files.readString(outputsFile(name)));
      Map<String, String> outputs = new LinkedHashMap<>();
      all.path(name).properties().forEach(it -> outputs.put(it.getKey(), it.getValue().asText()));
      return outputs;
    } catch (IOException e) {
      throw Failure.unreadable(shell.shown(outputsFile(name)), e);
    }
  }

  // The deployment

  Api controlPlane() {
    return api(outputsOfDeployment().controlPlane());
  }

  HttpDeployment deployment() {
    Outputs outputs = outputsOfDeployment();
    Api sessions = api(outputs.sessions());
    return new HttpDeployment(controlPlane(), tenant -> sessions, outputs.sockets());
  }

  private Outputs outputsOfDeployment() {
    return new Outputs(outputsFile(stackName()), stackName(), outputs(stackName()));
  }

  private Api api(URI uri) {
    return stacks.account().deployed(uri);
  }

  // Steps

  /** Remembers that a step begins, again perhaps, and the most that it costs. */
  void begins(String step, int cents) {
    state.withArray(BEGUN).addObject().put("name", step).put(CENTS, cents);
    save();
  }

  /** Whether one of these steps may have begun: files of other versions do not say. */
  boolean mayHaveBegun(Set<String> steps) {
    return !state.has(BEGUN) || costs().keySet().stream().anyMatch(steps::contains);
  }

  /** The most that each attempt at a step costs, by the step's name, in the order of the first. */
  Map<String, List<Integer>> costs() {
    Map<String, List<Integer>> costs = new LinkedHashMap<>();
    for (JsonNode begun : state.path(BEGUN)) {
      costs
          .computeIfAbsent(begun.path("name").asText(), first -> new ArrayList<>())
          .add(begun.path(CENTS).asInt());
    }
    return costs;
  }

  /** The most that all attempts cost together. */
  int cents() {
    return costs().values().stream().flatMap(List::stream).mapToInt(Integer::intValue).sum();
  }

  /** What a step found in an earlier run; empty if it has not ended yet. */
  Optional<List<Finding>> findings(String step) {
    for (JsonNode ended : state.path(STEPS)) {
      if (ended.path("name").asText().equals(step)) {
        List<Finding> findings = new ArrayList<>();
        ended.path("findings").forEach(finding -> findings.add(Finding.of(finding)));
        return Optional.of(findings);
      }
    }
    return Optional.empty();
  }

  /** Remembers that a step has ended, instead of what it found before. */
  void ended(String step, List<Finding> findings) {
    ArrayNode steps = state.withArray(STEPS);
    steps.removeIf(earlier -> earlier.path("name").asText().equals(step));
    ObjectNode ended = steps.addObject();
    ended.put("name", step).put("endedAt", now().truncatedTo(ChronoUnit.SECONDS).toString());
    findings.forEach(finding -> ended.withArray("findings").add(finding.document()));
    save();
  }

  /**
   * What AWS billed for the days of this run.
   *
   * @throws Failure if AWS refuses
   */
  Bill bill() {
    Instant ended =
        state
            .path(STEPS)
            .valueStream()
            .map(step -> Instant.parse(step.path("endedAt").asText()))
            .max(Instant::compareTo)
            .orElseThrow(() -> Failure.of("There was no run in " + settings.directory()));
    return Bill.of(
        stacks.account().inRegion(Bill.REGION),
        stacks.account().region(),
        beganAt(),
        ended,
        cents());
  }

  /** A directory of the run, which is created if it does not exist. */
  Path directory(String name) {
    try {
      return Files.createDirectories(settings.directory().resolve(name));
    } catch (IOException e) {
      throw Failure.of("Cannot create " + settings.directory().resolve(name) + ": " + e, e);
    }
  }

  /** Writes a file of the run. */
  void write(String name, String text) {
    try {
      Files.createDirectories(settings.directory());
      // A process that ends while it writes must not leave half a file.
      Path written = Files.writeString(settings.directory().resolve(name + ".new"), text);
      Files.move(
          written,
          settings.directory().resolve(name),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw Failure.of("Cannot write " + settings.directory().resolve(name) + ": " + e, e);
    }
  }

  private void save() {
    write(FILE, Json.writePretty(state) + "\n");
  }
}

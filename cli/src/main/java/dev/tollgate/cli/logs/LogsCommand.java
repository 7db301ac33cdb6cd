package dev.tollgate.cli.logs;

import dev.tollgate.cli.apply.DesiredState;
import dev.tollgate.cli.context.AwsService;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code tollgate logs}. */
@Command(
    name = "logs",
    description = {
      "Show what the deployment's functions logged, oldest first: admitted and refused handshakes, "
          + "messages, measurements and problems. Lambda's own lines about each invocation are left "
          + "out. With -o json, each line is a JSON object.",
      "Example: `tollgate logs --tenant acme --since 1h --level WARN`."
    })
public final class LogsCommand implements Callable<Integer> {
  private static final String OUTPUT = "LogGroups";

  /** Below the quota of five requests a second, which callers in an account and Region share. */
  private static final double REQUESTS_PER_SECOND = 4;

  private static final double LOCAL_REQUESTS_PER_SECOND = 1_000;
  private static final Duration BETWEEN_POLLS = Duration.ofSeconds(2);

  /** Events become readable some seconds late, and not in the order of their times. */
  private static final Duration LATEST = Duration.ofSeconds(30);

  /** AWS refuses requests of a computer whose clock differs by more. */
  private static final Duration WRONGEST_CLOCK = Duration.ofMinutes(5);

  private final CommandEnvironment tollgate;
  private final Shell shell;
  private final InstantSource clock;
  private final Map<String, Instant> printed = new HashMap<>();
  private Instant newest = Instant.MIN;

  @Option(
      names = {"-f", "--follow"},
      description = "Go on with new lines until you press Ctrl+C. Late lines are out of order.")
  private boolean follow;

  @Option(
      names = "--tenant",
      paramLabel = "ID",
      description =
          "Only lines about this tenant: its id is a field, or follows a word such as tenant.")
  private Optional<String> tenant = Optional.empty();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "10m",
      description = "How long ago to begin, such as 30m, 6h or 7d. Default: ${DEFAULT-VALUE}.")
  private Duration since = Duration.ofMinutes(10);

  @Option(
      names = "--function",
      paramLabel = "NAME",
      description =
          "Only lines of this function, such as Authorizer. PoolProcessor includes the functions of"
              + " silo tenants.")
  private Optional<String> function = Optional.empty();

  @Option(
      names = "--level",
      paramLabel = "LEVEL",
      defaultValue = "INFO",
      description =
          "Only lines of this level and above: INFO, WARN or ERROR. The levels follow from outcomes and"
              + " words. Default: ${DEFAULT-VALUE}.")
  private Level level = Level.INFO;

  /**
   * @param tollgate the deployment and the output
   * @param clock the time that {@code --since} counts from
   */
  public LogsCommand(CommandEnvironment tollgate, Shell shell, InstantSource clock) {
    this.tollgate = tollgate;
    this.shell = shell;
    this.clock = clock;
  }

  @Override
  public Integer call() {
    tenant
        .filter(id -> !DesiredState.TENANT_ID.matcher(id).matches())
        .ifPresent(
            id -> {
              throw Failure.usage(
                  "--tenant: %s (expected: lower-case letters, digits and hyphens, up to 36)"
                      .formatted(id));
            });
    Target target = tollgate.target();
    Map<String, String> groups = chosen(groups(target.outputs()));
    int width = groups.keySet().stream().mapToInt(String::length).max().orElse(0);
    LogGroups logs = logs(target);
    Instant from = clock.instant().minus(since);
    logs.read(groups, from, pattern(), event -> print(event, width));
    while (follow) {
      shell.sleep(BETWEEN_POLLS);
      from = next(from);
      Instant start = from;
      printed.values().removeIf(time -> time.isBefore(start));
      logs.read(groups, from, pattern(), event -> print(event, width));
    }
    if (newest.equals(Instant.MIN)) {
      shell.printError("No matching log lines since " + from + ".");
    }
    return 0;
  }

  /** Where the next poll begins: some time before the newest event, which is read again. */
  private Instant next(Instant from) {
    // As exact as times of events, or an event at its start is read again but not remembered.
    Instant recent = clock.instant().truncatedTo(ChronoUnit.MILLIS).minus(WRONGEST_CLOCK);
    Instant next = (newest.isAfter(recent) ? newest : recent).minus(LATEST);
    return next.isAfter(from) ? next : from;
  }

  private void print(LogEvent event, int width) {
    LogLine.of(event)
        .filter(line -> line.level().compareTo(level) >= 0)
        .filter(line -> tenant.map(line::isAbout).orElse(true))
        .filter(line -> !follow || printed.put(event.id(), event.time()) == null)
        .ifPresent(
            line -> {
              newest = event.time().isAfter(newest) ? event.time() : newest;
              tollgate.print(line.document(), List.of(line.text(width)));
            });
  }

  /**
   * The filter pattern for CloudWatch Logs. It may find other lines, too. CloudWatch does not
   * document patterns of two regular expressions, so a level with a tenant is left to {@link
   * #print}.
   */
  private String pattern() {
    String expression = tenant.orElseGet(level::expression);
    return expression.isEmpty() ? "" : "%" + expression + "%";
  }

  private static Map<String, String> groups(Outputs outputs) {
    Map<String, String> groups = new TreeMap<>();
    Optional.ofNullable(outputs.values().get(OUTPUT))
        .orElseThrow(
            () ->
                Failure.of(
                    "Stack %s in %s has no output %s. Deploy this version of Tollgate first, or add"
                            .formatted(outputs.stack(), outputs.file(), OUTPUT)
                        + " the output to your own CDK app (docs/reference/settings.md)."))
        .lines()
        .map(line -> line.split("=", 2))
        .filter(pair -> pair.length == 2)
        .forEach(pair -> groups.put(pair[0], pair[1]));
    return groups;
  }

  private Map<String, String> chosen(Map<String, String> groups) {
    if (function.isEmpty()) {
      return groups;
    }
    String name = function.get();
    return groups.entrySet().stream()
        .filter(group -> group.getKey().equalsIgnoreCase(name))
        .findFirst()
        .map(group -> Map.of(group.getKey(), group.getValue()))
        .orElseThrow(
            () ->
                Failure.usage(
                    "--function: %s (expected: %s)"
                        .formatted(name, String.join(", ", groups.keySet()))));
  }

  private LogGroups logs(Target target) {
    return new LogGroups(
        AwsService.of(target, "logs"),
        AwsService.isAws(target) ? REQUESTS_PER_SECOND : LOCAL_REQUESTS_PER_SECOND,
        shell);
  }
}

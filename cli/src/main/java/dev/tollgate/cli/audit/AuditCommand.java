package dev.tollgate.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.apply.DesiredState;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code tollgate audit}. */
@Command(
    name = "audit",
    description = {
      "Show who changed which tenant, tier or switch, when, by which request, and from what to what,"
          + " oldest first. Entries are kept for 400 days, also those of removed tenants. With -o json,"
          + " each entry is a JSON object on a line.",
      "Example: `tollgate audit --tenant acme --since 30d`."
    })
public final class AuditCommand implements Callable<Integer> {
  private static final Duration LONGEST = Duration.ofDays(400);
  private static final Duration BETWEEN_POLLS = Duration.ofSeconds(2);

  /** A change has its entry some seconds late, and at most so late while nothing fails. */
  private static final Duration LATEST = Duration.ofMinutes(2);

  /** The clock of this computer may be behind by so much. */
  private static final Duration AHEAD = Duration.ofHours(1);

  /** What happens to a whole tenant or tier. */
  private static final Set<String> WHOLE =
      Set.of("TenantOnboarded", "TenantRemoved", "TierCreated", "TierRemoved");

  private final CommandEnvironment tollgate;
  private final Shell shell;
  private final InstantSource clock;
  private final Set<String> printed = new HashSet<>();

  @Option(
      names = {"-f", "--follow"},
      description = "Go on with new entries until you press Ctrl+C.")
  private boolean follow;

  @Option(
      names = "--tenant",
      paramLabel = "ID",
      description =
          "Only changes of this tenant. Default: changes of all tenants, of tiers and of the deployment.")
  private Optional<String> tenant = Optional.empty();

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "Only changes of this tier. Not together with --tenant.")
  private Optional<String> tier = Optional.empty();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "7d",
      description =
          "How long ago to begin, such as 6h, 30d or 400d, which is the most. Default: ${DEFAULT-VALUE}.")
  private Duration since = Duration.ofDays(7);

  /**
   * @param tollgate the deployment and the output
   * @param clock the time that {@code --since} counts from
   */
  public AuditCommand(CommandEnvironment tollgate, Shell shell, InstantSource clock) {
    this.tollgate = tollgate;
    this.shell = shell;
    this.clock = clock;
  }

  @Override
  public Integer call() {
    tenant.ifPresent(
        id ->
            Failure.checkOption(
                DesiredState.TENANT_ID.matcher(id).matches(),
                "--tenant",
                id,
                "lower-case letters, digits and hyphens, up to 36"));
    tier.ifPresent(
        name ->
            Failure.checkOption(
                DesiredState.TIER_NAME.matcher(name).matches() && tenant.isEmpty(),
                "--tier",
                name,
                tenant.isPresent()
                    ? "not together with --tenant"
                    : "lower-case letters, digits and hyphens, a letter first, up to 32"));
    Failure.checkOption(
        since.compareTo(LONGEST.minus(AHEAD)) <= 0 || since.equals(LONGEST),
        "--since",
        since.toHours() + "h",
        "at most 400d");
    Sender api = tollgate.controlPlane();
    Instant now = clock.instant();
    Instant end = now.plus(AHEAD);
    Instant from = since.equals(LONGEST) ? end.minus(LONGEST) : now.minus(since);
    List<JsonNode> entries = read(api, from, end);
    entries.forEach(this::print);
    if (entries.isEmpty() && !follow) {
      shell.printError("No changes since " + from + ".");
    }
    while (follow) {
      shell.sleep(BETWEEN_POLLS);
      Instant poll = clock.instant();
      Instant recent = poll.minus(LATEST);
      read(api, recent.isAfter(from) ? recent : from, poll.plus(AHEAD)).forEach(this::print);
    }
    return 0;
  }

  /** The entries of a time, oldest first. */
  private List<JsonNode> read(Sender api, Instant from, Instant to) {
    Map<String, String> query = new TreeMap<>();
    tenant.ifPresent(id -> query.put("tenantId", id));
    tier.ifPresent(name -> query.put("tier", name));
    query.put("from", from.toString());
    query.put("to", to.toString());
    List<JsonNode> entries = new ArrayList<>();
    PageIterator pages =
        new PageIterator(
            cursor -> {
              Map<String, String> page = new TreeMap<>(query);
              page.putAll(cursor);
              return api.get("/audit" + Api.suffix(page)).orThrow().json();
            });
    pages.forEachRemaining(page -> page.path("entries").forEach(entries::add));
    Collections.reverse(entries);
    return entries;
  }

  private void print(JsonNode entry) {
    if (!follow || printed.add(entry.path("id").asText())) {
      tollgate.print(entry, List.of(line(entry)));
    }
  }

  /**
   * One line: when, what, about whom, by whom, and each changed field. If a whole tenant or tier
   * came or went, these are only its tier and overrides; JSON has all.
   */
  private static String line(JsonNode entry) {
    JsonNode from = entry.path("from");
    JsonNode to = entry.path("to");
    Set<String> fields = new TreeSet<>();
    from.fieldNames().forEachRemaining(fields::add);
    to.fieldNames().forEachRemaining(fields::add);
    boolean isWhole = WHOLE.contains(entry.path("what").asText());
    String changes =
        fields.stream()
            .filter(field -> !isWhole || field.equals("tier") || field.startsWith("overrides."))
            .map(field -> field + " " + value(from, field) + " -> " + value(to, field))
            .collect(Collectors.joining(", "));
    return "%s  %s  %s  by %s in %s%s"
        .formatted(
            entry.path("at").asText(),
            entry.path("what").asText(),
            entry.path("subject").asText(),
            entry.path("by").asText(),
            entry.path("request").asText(),
            changes.isEmpty() ? "" : ": " + changes);
  }

  private static String value(JsonNode fields, String name) {
    return fields.has(name) ? "`" + fields.path(name).asText() + "`" : "none";
  }
}

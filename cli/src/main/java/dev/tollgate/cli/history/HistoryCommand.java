package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.history.Chart.Bar;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code tollgate history}. */
@Command(
    name = "history",
    description = {
      "Show what happened to a tenant, or to all tenants together: admitted and refused "
          + "connections, the peak of open connections, and tokens taken. A minute is complete "
          + "after about two minutes, and kept for 31 days; an hour is kept for 400 days.",
      "Example: `tollgate history acme --since 1d`; `tollgate history --since 400d --step 1d`."
    })
public final class HistoryCommand implements Callable<Integer> {
  /** Said of a time that has not ended for long. */
  static final String INCOMPLETE = "The last two minutes are still incomplete.";

  /** How long hours are kept. */
  private static final Duration LONGEST = Duration.ofDays(400);

  /** How long the API reads minutes. */
  private static final Duration MINUTES_KEPT = Duration.ofDays(32);

  /** The longest time of all tenants together of which the API reads minutes. */
  private static final Duration MINUTES_OF_ALL = Duration.ofDays(7);

  private final CommandEnvironment tollgate;
  private final Shell shell;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "TENANT",
      arity = "0..1",
      description = "The tenant. Default: all tenants together.")
  private Optional<String> tenantId = Optional.empty();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "1h",
      description =
          "How long ago the history begins, such as 30m, 6h or 400d, which is the most. Default: 1h.")
  private Duration since = Duration.ofHours(1);

  @Option(
      names = "--from",
      paramLabel = "INSTANT",
      description =
          "Where the history begins, such as 2026-03-12T14:00:00Z, instead of --since. A full minute.")
  private Optional<Instant> from = Optional.empty();

  @Option(
      names = "--to",
      paramLabel = "INSTANT",
      description = "Where the history ends. A full minute. Default: now.")
  private Optional<Instant> to = Optional.empty();

  @Option(
      names = "--step",
      paramLabel = "TIME",
      description =
          "How long a step is. Whole hours if the history begins more than 31 days ago, or has more than 7"
              + " days of all tenants. Default: the shortest of 1m, 5m, 15m, 1h, 6h and 1d that gives"
              + " at most 60 steps, or else 1d.")
  private Optional<Duration> step = Optional.empty();

  @Option(
      names = "--chart",
      description = "Also draw a chart of admitted and refused connections. Default on a terminal.")
  private boolean chart;

  /**
   * @param tollgate the deployment and the output
   * @param shell tells whether there is a terminal
   */
  public HistoryCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    from.ifPresent(at -> checkMinute("--from", at));
    to.ifPresent(at -> checkMinute("--to", at));
    Sender api = tollgate.controlPlane();
    Instant end = to.orElseGet(() -> Span.now(api));
    Span span = new Span(from.orElseGet(() -> end.minus(since)), end);
    checkLength(span);
    Duration every = step.orElseGet(() -> step(api, span));
    Failure.checkOption(
        span.minutes() <= longestOfMinutes().toMinutes()
            || every.equals(Duration.ofHours(every.toHours())),
        "--step",
        Span.text(every),
        "whole hours for more than " + Span.text(longestOfMinutes()));
    Failure.checkOption(
        span.minutes() / every.toMinutes() <= Span.MAX_STEPS,
        "--step",
        Span.text(every),
        "at least %dm for %s".formatted(span.minutes() / (Span.MAX_STEPS + 1) + 1, span));
    String path = tenantId.map(id -> Paths.tenant(id) + "/history").orElse("/fleet");
    Response response =
        tollgate.found(
            api.get(path + Api.suffix(span.query(every))),
            "No tenant named `%s`, and no history of one. List tenants with `tollgate tenants list`."
                .formatted(tenantId.orElse("")));
    JsonNode steps = response.json().path("steps");
    tollgate.print(
        response, tollgate.isCsv() ? CountTable.csv(steps, "at") : lines(api, steps, span, every));
    return 0;
  }

  static void checkMinute(String option, Instant at) {
    Failure.checkOption(at.equals(at.truncatedTo(ChronoUnit.MINUTES)), option, at, "a full minute");
  }

  private void checkLength(Span span) {
    Failure.checkOption(
        span.from().isBefore(span.to()), "--from", span.from(), "before " + span.to());
    Failure.checkOption(
        span.minutes() <= LONGEST.toMinutes(),
        from.isPresent() ? "--from" : "--since",
        from.map(Instant::toString).orElseGet(() -> Span.text(since)),
        "at most %s before the end".formatted(Span.text(LONGEST)));
  }

  private Duration longestOfMinutes() {
    return tenantId.isPresent() ? MinutesReader.LONGEST : MINUTES_OF_ALL;
  }

  /** The default step. Only hours are kept of what happened more than 31 days ago. */
  private Duration step(Sender api, Span span) {
    Duration usual = span.step();
    Duration hour = Duration.ofHours(1);
    boolean isShort = usual.compareTo(hour) < 0;
    return isShort
            && to.isPresent()
            && span.from().isBefore(Span.now(api).minus(MinutesReader.LONGEST))
        ? hour
        : usual;
  }

  private List<String> lines(Sender api, JsonNode steps, Span span, Duration every) {
    String what =
        "%s, %s, in steps of %s".formatted(tenantId.orElse("All tenants"), span, Span.text(every));
    boolean mayBeLost = from.isPresent() || to.isPresent();
    boolean asksClock = mayBeLost && (steps.isEmpty() || every.toHours() > 0);
    Instant now = asksClock ? Span.now(api) : span.to();
    String lost = lost(span, now);
    if (steps.isEmpty()) {
      boolean mayChange = span.to().isAfter(now.minus(MinutesReader.INCOMPLETE));
      return List.of(
          what
              + (isLost(span, now) ? "." : ": nothing happened.")
              + lost
              + (mayChange ? " " + INCOMPLETE : ""));
    }
    List<String> lines =
        new ArrayList<>(
            List.of(
                what + ".",
                "Steps in which nothing happened are left out."
                    + lost
                    + (to.isEmpty() ? " " + INCOMPLETE : ""),
                ""));
    lines.addAll(CountTable.text(steps, "TIME", "at"));
    if (chart || shell.terminal().isPresent()) {
      lines.add("");
      lines.addAll(Chart.lines(bars(steps, span, every), columns()));
    }
    return lines;
  }

  /** Whether nothing of a time is kept. Hours that begin before it are not shown. */
  private boolean isLost(Span span, Instant now) {
    Instant hour = span.to().minusNanos(1).truncatedTo(ChronoUnit.HOURS);
    return !span.to().isAfter(now.minus(LONGEST))
        || isHourly(span, now) && hour.isBefore(span.from());
  }

  private boolean isHourly(Span span, Instant now) {
    return span.from().isBefore(now.minus(MINUTES_KEPT));
  }

  /** Says what of a time is no longer kept; empty if all is. */
  private String lost(Span span, Instant now) {
    Instant kept = now.minus(LONGEST);
    if (span.from().isBefore(kept)) {
      return " What happened before %s is no longer kept.".formatted(kept);
    }
    return isLost(span, now)
        ? " Its minutes are no longer kept: ask for whole hours, with --from and --to at full hours."
        : "";
  }

  private static List<Bar> bars(JsonNode steps, Span span, Duration every) {
    Map<String, JsonNode> known = new HashMap<>();
    steps.forEach(one -> known.put(one.path("at").asText(), one));
    return span.steps(every).stream()
        .map(Instant::toString)
        .map(
            at -> {
              JsonNode one = known.get(at);
              return one == null
                  ? new Bar(at, 0, 0)
                  : new Bar(at, one.path("admitted").asLong(), one.path("refused").asLong());
            })
        .toList();
  }

  /** The width of the terminal, as picocli finds it for the help; 80 without one. */
  private int columns() {
    return spec == null ? 80 : spec.usageMessage().width();
  }
}

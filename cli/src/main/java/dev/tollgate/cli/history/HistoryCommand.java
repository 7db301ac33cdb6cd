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
          + "after about two minutes, and kept for 31 days.",
      "Example: `tollgate history acme --since 1d`."
    })
public final class HistoryCommand implements Callable<Integer> {
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
      description = "How long ago the history begins, such as 30m, 6h or 7d. Default: 1h.")
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
          "How long a step is. Default: the shortest of 1m, 5m, 15m, 1h, 6h and 1d that gives at most 60"
              + " steps.")
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
    Sender api = tollgate.controlPlane();
    Instant end = to.orElseGet(() -> Span.now(api));
    Span span = new Span(from.orElseGet(() -> end.minus(since)), end);
    if (!span.from().isBefore(span.to())) {
      throw Failure.usage("--from: %s (expected: before %s)".formatted(span.from(), span.to()));
    }
    Duration every = step.orElseGet(span::step);
    String path = tenantId.map(id -> Paths.tenant(id) + "/history").orElse("/fleet");
    Response response =
        tollgate.found(
            api.get(path + Api.suffix(span.query(every))),
            "No tenant named `%s`, and no history of one. List tenants with `tollgate tenants list`."
                .formatted(tenantId.orElse("")));
    JsonNode steps = response.json().path("steps");
    tollgate.print(
        response, tollgate.isCsv() ? CountTable.csv(steps, "at") : lines(steps, span, every));
    return 0;
  }

  private List<String> lines(JsonNode steps, Span span, Duration every) {
    String what =
        "%s, %s, in steps of %s".formatted(tenantId.orElse("All tenants"), span, Span.text(every));
    if (steps.isEmpty()) {
      return List.of(what + ": nothing happened.");
    }
    List<String> lines =
        new ArrayList<>(List.of(what + ".", "Steps in which nothing happened are left out.", ""));
    lines.addAll(CountTable.text(steps, "TIME", "at"));
    if (chart || shell.terminal().isPresent()) {
      lines.add("");
      lines.addAll(Chart.lines(bars(steps, span, every), columns()));
    }
    return lines;
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

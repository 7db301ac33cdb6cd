package dev.tollgate.cli.trace;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.context.AwsService;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate trace}. */
@Command(
    name = "trace",
    description = {
      "Show the trace of a connection: what its handshake, its messages and its end waited for, as a"
          + " tree. Needs a deployment with the option `tracing`. X-Ray shows a trace some seconds"
          + " late, and only of handshakes that Lambda has sampled.",
      "Example: `tollgate trace L0SM9cOFvHcCIhw= --since 1d`."
    })
public final class TraceCommand implements Callable<Integer> {
  private static final String OUTPUT = "Tracing";
  private static final Pattern CONNECTION_ID = Pattern.compile("[A-Za-z0-9_=-]{1,128}");

  private final CommandEnvironment tollgate;
  private final InstantSource clock;

  @Parameters(
      paramLabel = "CONNECTION_ID",
      description = "The connection's id, as in `tollgate logs` and in the access log.")
  private String connectionId = "";

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "6h",
      description =
          "How long ago the handshake was at most, such as 30m, 6h or 7d. Default:"
              + " ${DEFAULT-VALUE}. X-Ray keeps traces for 30 days.")
  private Duration since = Duration.ofHours(6);

  /**
   * @param tollgate the deployment and the output
   * @param clock the time that {@code --since} counts from
   */
  public TraceCommand(CommandEnvironment tollgate, InstantSource clock) {
    this.tollgate = tollgate;
    this.clock = clock;
  }

  @Override
  public Integer call() {
    if (!CONNECTION_ID.matcher(connectionId).matches()) {
      throw Failure.usage(
          "CONNECTION_ID: %s (expected: letters, digits, =, - and _)".formatted(connectionId));
    }
    Target target = tollgate.target();
    if (!target.outputs().values().containsKey(OUTPUT)) {
      throw Failure.of(
          "%s records no traces. Deploy it with the option `tracing=true`."
              .formatted(target.description()));
    }
    Traces traces = new Traces(AwsService.of(target, "xray"));
    Instant now = clock.instant();
    // An id has the seconds of its trace, and the clock of this computer may be behind.
    List<String> ids =
        traces.find("connectionId", connectionId, now.minus(since), now.plusSeconds(60));
    ObjectNode document = Json.object();
    ArrayNode all = document.putArray("traces");
    List<String> lines = new ArrayList<>();
    for (String id : ids) {
      ObjectNode tree = TraceTree.document(id, traces.segments(id));
      all.add(tree);
      lines.addAll(TraceTree.lines(tree));
    }
    if (all.isEmpty()) {
      throw Failure.of(
          "No trace of connection %s since %s. Its handshake was not sampled, or was earlier: use --since."
              .formatted(connectionId, now.minus(since)));
    }
    tollgate.print(document, lines);
    return 0;
  }
}

package dev.tollgate.bench;

import dev.tollgate.bench.client.Deployment;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures a running deployment and prints a Markdown table. */
@Command(name = "storm", description = "Measure a running deployment and print a Markdown table.")
public final class Storm implements Callable<Integer> {
  /** What can be measured, by the name of its row, in the order of the table. */
  private static final Map<String, Supplier<Measurement>> ROWS = rows();

  @Option(
      names = "--outputs",
      paramLabel = "FILE",
      description = "Outputs of the deployment. Default: .tollgate/outputs.json.")
  private Path outputs = Path.of(".tollgate", "outputs.json");

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli answers it
  private boolean help;

  @Parameters(
      paramLabel = "ROW",
      arity = "0..*",
      completionCandidates = RowNames.class,
      description = "What to measure: ${COMPLETION-CANDIDATES}. Default: all, one after the other.")
  private List<String> rows = List.copyOf(ROWS.keySet());

  @Spec private CommandSpec spec = CommandSpec.create();

  private final PrintWriter out;
  private final PrintWriter err;
  private final Watch watch;

  private Storm(PrintWriter out, PrintWriter err, Watch watch) {
    this.out = out;
    this.err = err;
    this.watch = watch;
  }

  /**
   * Runs one command line and ends the JVM with its exit code: 0 if all was measured, 1 if not, 2
   * if the command was not understood.
   */
  public static void main(String... arguments) {
    System.exit(
        commandLine(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                new Watch(InstantSource.system(), System::nanoTime))
            .execute(arguments));
  }

  private static Map<String, Supplier<Measurement>> rows() {
    Map<String, Supplier<Measurement>> rows = new LinkedHashMap<>();
    rows.put("sleeping-bucket", SleepingBucket::new);
    rows.put("next-token", NextToken::new);
    rows.put("lost-disconnects", LostDisconnects::new);
    rows.put("permanent-demand", PermanentDemand::new);
    rows.put("all-or-none-claims", AllOrNoneClaims::new);
    rows.put("resent-message", ResentMessage::new);
    return Collections.unmodifiableMap(rows);
  }

  static CommandLine commandLine(PrintWriter out, PrintWriter err, Watch watch) {
    return new CommandLine(new Storm(out, err, watch)).setOut(out).setErr(err);
  }

  @Override
  public Integer call() throws InterruptedException {
    requireRows();
    List<Row> table = new ArrayList<>();
    boolean complete = true;
    try (Deployment deployment = deployment()) {
      for (String row : rows) {
        Measurement measurement = Objects.requireNonNull(ROWS.get(row)).get();
        err.println(
            "%s (at most %d minutes) ...".formatted(row, measurement.patience().toMinutes()));
        try {
          table.addAll(measure(measurement, deployment));
        } catch (IllegalStateException e) {
          complete = false;
          table.add(new Row(row, "not measured: " + e.getMessage(), ""));
        }
      }
    }
    Row.table(table).forEach(out::println);
    return complete ? 0 : 1;
  }

  private void requireRows() {
    rows.stream()
        .filter(row -> !ROWS.containsKey(row))
        .findFirst()
        .ifPresent(
            unknown -> {
              throw new ParameterException(
                  spec.commandLine(),
                  "ROW: %s (expected: one of %s)"
                      .formatted(unknown, String.join(", ", ROWS.keySet())));
            });
  }

  private Deployment deployment() {
    try {
      return Deployment.read(outputs);
    } catch (UncheckedIOException | IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--outputs: " + e.getMessage() + ". Start ./tollgate up first.", e);
    }
  }

  /** The names of the rows, for the help. */
  static final class RowNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return ROWS.keySet().iterator();
    }
  }

  /** Measures, but not for longer than the measurement has patience. */
  private List<Row> measure(Measurement measurement, Deployment deployment)
      throws InterruptedException {
    ExecutorService worker =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "measurement");
              thread.setDaemon(true);
              return thread;
            });
    try {
      Duration patience = measurement.patience();
      Future<List<Row>> found = worker.submit(() -> measurement.measure(deployment, watch));
      return found.get(patience.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw new IllegalStateException(
          cause instanceof IllegalStateException ? cause.getMessage() : String.valueOf(cause), e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "not done after " + measurement.patience().toMinutes() + " minutes", e);
    } finally {
      worker.shutdownNow();
    }
  }
}

package dev.tollgate.bench;

import dev.tollgate.bench.client.Deployment;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
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

/** A command that runs measurements on a deployment and prints a Markdown table. */
@Command
public final class Benchmark implements Callable<Integer> {

  @Option(
      names = "--outputs",
      paramLabel = "FILE",
      description = "Outputs file of the deployment. Default: .tollgate/outputs.json.")
  private Path outputs = Path.of(".tollgate", "outputs.json");

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  @Parameters(
      paramLabel = "ROW",
      arity = "0..*",
      description = "Row to measure. May be repeated. Default: all rows, one after another.")
  private List<String> rows = List.of();

  @Spec private CommandSpec spec = CommandSpec.create();

  private final Map<String, Supplier<Measurement>> measurements;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Stopwatch stopwatch;

  private Benchmark(
      Map<String, Supplier<Measurement>> measurements,
      PrintWriter out,
      PrintWriter err,
      Stopwatch stopwatch) {
    this.measurements = Collections.unmodifiableMap(new LinkedHashMap<>(measurements));
    this.out = out;
    this.err = err;
    this.stopwatch = stopwatch;
  }

  /**
   * Runs one command and ends the JVM with its exit code: 0 if all rows were measured, 1 if some
   * were not, 2 for an invalid command line.
   *
   * @param name the command's name
   * @param description the command's description in its help
   * @param measurements the measurements by the names of their rows, in the order of the table
   */
  public static void run(
      String name,
      String description,
      Map<String, Supplier<Measurement>> measurements,
      String... arguments) {
    System.exit(
        commandLine(
                name,
                description,
                measurements,
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                new Stopwatch(InstantSource.system(), System::nanoTime))
            .execute(arguments));
  }

  /** The command with the given streams and stopwatch. */
  public static CommandLine commandLine(
      String name,
      String description,
      Map<String, Supplier<Measurement>> measurements,
      PrintWriter out,
      PrintWriter err,
      Stopwatch stopwatch) {
    CommandLine command =
        new CommandLine(new Benchmark(measurements, out, err, stopwatch))
            .setCommandName(name)
            .setOut(out)
            .setErr(err);
    command
        .getCommandSpec()
        .usageMessage()
        .description(description)
        .footer("", "Rows: " + String.join(", ", measurements.keySet()) + ".");
    return command;
  }

  @Override
  public Integer call() throws InterruptedException {
    requireRows();
    Collection<String> chosen = rows.isEmpty() ? measurements.keySet() : rows;
    List<Row> table = new ArrayList<>();
    boolean complete = true;
    try (Deployment deployment = deployment()) {
      for (String row : chosen) {
        Measurement measurement = Objects.requireNonNull(measurements.get(row)).get();
        err.println(
            "%s (at most %d minutes) ...".formatted(row, measurement.timeout().toMinutes()));
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
        .filter(row -> !measurements.containsKey(row))
        .findFirst()
        .ifPresent(
            unknown -> {
              throw new ParameterException(
                  spec.commandLine(),
                  "ROW: %s (expected: one of %s)"
                      .formatted(unknown, String.join(", ", measurements.keySet())));
            });
  }

  private Deployment deployment() {
    try {
      return Deployment.read(outputs);
    } catch (UncheckedIOException | IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(),
          "--outputs: " + e.getMessage() + ". Start a local cloud with `./tollgate up` first.",
          e);
    }
  }

  /** Runs a measurement within its time limit. */
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
      Duration timeout = measurement.timeout();
      Future<List<Row>> found = worker.submit(() -> measurement.measure(deployment, stopwatch));
      return found.get(timeout.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw new IllegalStateException(
          cause instanceof IllegalStateException ? cause.getMessage() : String.valueOf(cause), e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "not done after " + measurement.timeout().toMinutes() + " minutes", e);
    } finally {
      worker.shutdownNow();
    }
  }
}

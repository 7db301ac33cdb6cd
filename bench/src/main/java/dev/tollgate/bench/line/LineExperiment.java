package dev.tollgate.bench.line;

import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.AwsRequests;
import dev.tollgate.bench.client.Deployment;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code line}.
 *
 * <p>It counts the AWS requests of single steps first, then runs the two scenarios of the figure,
 * one after the other, and then all others beside each other.
 */
@Command(
    name = "line",
    description =
        "Let clients wait in line at a running deployment, and print a Markdown table; or draw the"
            + " figure.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All chosen scenarios were measured and kept their goals.",
      "1:A scenario was not measured, or missed a goal.",
      "2:The command line is invalid."
    })
public final class LineExperiment implements Callable<Integer> {
  /** Long enough for the first attempts of a scenario, the most work that it makes. */
  private static final Duration BETWEEN_STARTS = Duration.ofSeconds(20);

  @Option(
      names = "--outputs",
      paramLabel = "FILE",
      description = "Outputs file of the deployment. Default: .tollgate/outputs.json.")
  private Path outputs = Path.of(".tollgate", "outputs.json");

  @Option(
      names = "--requests",
      paramLabel = "FILE",
      description =
          "File of `tollgate up --requests`: count the AWS requests of each step. Default: do not.")
  private Optional<Path> requests = Optional.empty();

  @Option(
      names = "--quick",
      description = "Let fewer clients wait for a shorter time: three minutes in all.")
  private boolean quick;

  @Option(
      names = "--data",
      paramLabel = "FILE",
      description = "CSV file to write all attempts to. Default: bench/target/line/attempts.csv.")
  private Path data = Path.of("bench", "target", "line", "attempts.csv");

  @Option(
      names = "--draw",
      paramLabel = "FILE",
      description =
          "Measure nothing; draw the figure from a file of attempts with the runs line-90 and"
              + " no-line-90.")
  private Optional<Path> draw = Optional.empty();

  @Option(
      names = "--figure",
      paramLabel = "FILE",
      description =
          "SVG file of the figure. Default: with --draw, docs/line.svg; otherwise, do not draw.")
  private Optional<Path> figure = Optional.empty();

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  @Parameters(
      paramLabel = "SCENARIO",
      arity = "0..*",
      description = "Scenario to run. May be repeated. Default: all except no-line-300.")
  private List<String> names = List.of();

  @Spec private CommandSpec spec = CommandSpec.create();

  private final PrintWriter out;
  private final PrintWriter err;
  private final Stopwatch stopwatch;

  private LineExperiment(PrintWriter out, PrintWriter err, Stopwatch stopwatch) {
    this.out = out;
    this.err = err;
    this.stopwatch = stopwatch;
  }

  /** Runs the command and ends the JVM with its exit code. */
  public static void main(String... arguments) {
    System.exit(
        commandLine(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                new Stopwatch(InstantSource.system(), System::nanoTime))
            .execute(arguments));
  }

  /** The command with the given streams and stopwatch. */
  static CommandLine commandLine(PrintWriter out, PrintWriter err, Stopwatch stopwatch) {
    CommandLine command =
        new CommandLine(new LineExperiment(out, err, stopwatch)).setOut(out).setErr(err);
    command
        .getCommandSpec()
        .usageMessage()
        .footer("", "Scenarios: " + String.join(", ", Scenario.NAMES) + ".");
    return command;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (draw.isPresent()) {
      drawFigure(readAttempts(draw.get()), figure.orElse(Path.of("docs", "line.svg")));
      return 0;
    }
    List<Scenario> scenarios = scenarios();
    Report report = new Report();
    List<Row> steps = new ArrayList<>();
    List<Attempt> attempts = new ArrayList<>();
    try (Deployment deployment = deployment()) {
      Optional<AwsRequests> counted = requests.map(AwsRequests::new);
      if (counted.isPresent()) {
        err.println("AWS requests of each step, at most 1 minute ...");
        steps.addAll(new Steps(deployment, stopwatch, counted.get()).count());
      }
      Runner runner = new Runner(deployment, stopwatch, err);
      List<Scenario> others = new ArrayList<>();
      for (Scenario scenario : scenarios) {
        if (Drawing.RUNS.contains(scenario.name())) {
          counted.ifPresent(one -> one.next(AwsRequests.CLIENT));
          attempts.addAll(measure(runner, List.of(scenario), report));
          counted.ifPresent(one -> steps.add(total(scenario, one)));
        } else {
          others.add(scenario);
        }
      }
      attempts.addAll(measure(runner, others, report));
    }
    AttemptsFile.write(data, attempts);
    report.lines().forEach(out::println);
    if (!steps.isEmpty()) {
      out.println();
      Row.table(steps).forEach(out::println);
    }
    figure.ifPresent(file -> drawFigure(attempts, file));
    return report.isKept() ? 0 : 1;
  }

  /** Runs scenarios at the same time, and adds them to the report in their order. */
  private List<Attempt> measure(Runner runner, List<Scenario> scenarios, Report report)
      throws InterruptedException {
    ExecutorService workers = Executors.newCachedThreadPool();
    try {
      Map<Scenario, Future<List<Attempt>>> runs = new LinkedHashMap<>();
      for (Scenario scenario : scenarios) {
        if (!runs.isEmpty()) {
          stopwatch.sleep(BETWEEN_STARTS);
        }
        runs.put(scenario, workers.submit(() -> runner.run(scenario)));
      }
      List<Attempt> attempts = new ArrayList<>();
      for (Map.Entry<Scenario, Future<List<Attempt>>> run : runs.entrySet()) {
        try {
          List<Attempt> made = run.getValue().get();
          report.add(run.getKey(), made);
          attempts.addAll(made);
          if (run.getKey().hasLine()) {
            Trace.of(made).forEach(err::println);
          }
        } catch (ExecutionException e) {
          report.addFailure(run.getKey(), String.valueOf(e.getCause()));
        }
      }
      return attempts;
    } finally {
      workers.shutdownNow();
    }
  }

  private static Row total(Scenario scenario, AwsRequests requests) {
    return new Row(
        "AWS requests: %s, authorizer, $connect and session API".formatted(scenario.title()),
        AwsRequests.summary(requests.next(AwsRequests.CLIENT)),
        "");
  }

  private List<Scenario> scenarios() {
    List<String> chosen =
        names.isEmpty()
            ? Scenario.NAMES.stream().filter(name -> !name.equals("no-line-300")).toList()
            : names;
    try {
      return chosen.stream().map(name -> Scenario.of(name, quick)).toList();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
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

  private List<Attempt> readAttempts(Path file) {
    try {
      return AttemptsFile.read(file);
    } catch (UncheckedIOException | IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--draw: " + e.getMessage(), e);
    }
  }

  private void drawFigure(List<Attempt> attempts, Path file) {
    try {
      Drawing.write(attempts, file);
    } catch (UncheckedIOException | IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--figure: " + e.getMessage(), e);
    }
  }
}

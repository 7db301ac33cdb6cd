package dev.tollgate.bench.compare;

import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.contenders.Contenders;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code run}. */
@Command(
    name = "run",
    description =
        "Compare Tollgate with other limiters: start a local cloud and Redis, measure all in turns,"
            + " and print Markdown tables.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All goals were kept.",
      "1:A goal was missed.",
      "2:The command line is invalid."
    })
public final class Comparison implements Callable<Integer> {
  private static final String DOCUMENT = "comparison.md";
  private static final String DATA = "comparison.csv";

  @Option(
      names = "--quick",
      description =
          "Measure for a shorter time, about a minute. Tables and figures go to bench/target/compare.")
  private boolean quick;

  @Option(
      names = "--into",
      paramLabel = "DIR",
      description =
          "Directory for comparison.csv and the figures; tables replace those in its comparison.md,"
              + " if it has one. Default: docs.")
  private Optional<Path> into = Optional.empty();

  @Option(
      names = "--draw",
      paramLabel = "FILE",
      description = "Measure nothing; print the tables and draw the figures of a CSV file.")
  private Optional<Path> draw = Optional.empty();

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  @Spec private CommandSpec spec = CommandSpec.create();

  private final PrintWriter out;
  private final PrintWriter err;
  private final Path work;
  private final LongSupplier nanoTime;

  private Comparison(PrintWriter out, PrintWriter err, Path work, LongSupplier nanoTime) {
    this.out = out;
    this.err = err;
    this.work = work;
    this.nanoTime = nanoTime;
  }

  /** Runs the command and ends the JVM with its exit code. */
  public static void main(String... arguments) {
    System.exit(
        commandLine(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                Path.of("bench", "target", "compare"),
                System::nanoTime)
            .execute(arguments));
  }

  /** The command with the given streams, directory of temporary files, and time. */
  static CommandLine commandLine(
      PrintWriter out, PrintWriter err, Path work, LongSupplier nanoTime) {
    return new CommandLine(new Comparison(out, err, work, nanoTime)).setOut(out).setErr(err);
  }

  @Override
  public Integer call() throws InterruptedException {
    List<Figure> figures = draw.isPresent() ? read(draw.get()) : measure();
    Path directory = into.orElse(quick ? work : Path.of("docs"));
    if (draw.isEmpty()) {
      FiguresFile.write(directory.resolve(DATA), figures);
    }
    List<String> lines = Report.lines(figures);
    lines.forEach(out::println);
    try {
      Drawing.write(Delay.FIXED, figures, directory.resolve("comparison.svg"));
      Drawing.write(Delay.TAIL, figures, directory.resolve("comparison-tail.svg"));
      if (Files.exists(directory.resolve(DOCUMENT))) {
        Document.replace(directory.resolve(DOCUMENT), lines);
      }
    } catch (UncheckedIOException | IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--into: " + e.getMessage(), e);
    }
    return Goals.of(figures).isKept() ? 0 : 1;
  }

  private List<Figure> read(Path file) {
    try {
      return FiguresFile.read(file);
    } catch (UncheckedIOException | IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--draw: " + e.getMessage(), e);
    }
  }

  private List<Figure> measure() throws InterruptedException {
    Stopwatch stopwatch = new Stopwatch(InstantSource.system(), nanoTime);
    Plan plan = quick ? Plan.QUICK : Plan.FULL;
    Prices prices = Prices.read(Path.of("docs", "prices.yaml"));
    List<Figure> figures = new ArrayList<>();
    Optional<RedisProcess> redis = RedisProcess.start();
    if (redis.isEmpty()) {
      err.println(
          "Redis did not start here: %s are not measured."
              .formatted(String.join(" and ", Contenders.ON_REDIS)));
    }
    try {
      err.println("Starting a local cloud ...");
      try (LocalProcess cloud = LocalProcess.start(work.resolve("cloud"), Optional.empty());
          Deployment deployment = Deployment.read(cloud.outputs());
          Experiment experiment =
              new Experiment(
                  plan, deployment, redis.map(RedisProcess::address), stopwatch, nanoTime, err)) {
        figures.addAll(experiment.measure(prices));
      }
    } finally {
      redis.ifPresent(RedisProcess::close);
    }
    // What follows may fail without losing this.
    FiguresFile.write(work.resolve(DATA), figures);
    for (Delay delay : Delay.values()) {
      err.printf(
          "%3d s: Handshakes, %s a request ...%n", stopwatch.elapsed().toSeconds(), delay.label());
      try (LocalProcess cloud =
              LocalProcess.start(work.resolve(delay.plan()), Optional.of(delay.plan()));
          Deployment deployment = Deployment.read(cloud.outputs())) {
        figures.addAll(
            new Handshakes(deployment, cloud.requests(), stopwatch)
                .measure(delay, plan.handshakes()));
      } catch (IllegalStateException | UncheckedIOException e) {
        err.println("Not measured: " + e.getMessage());
      }
    }
    err.printf(Locale.ROOT, "%d s in all.%n", stopwatch.elapsed().toSeconds());
    return figures;
  }
}

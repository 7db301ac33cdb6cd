package dev.tollgate.e2e.models;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.models.ServiceModels.Result;
import dev.tollgate.local.endpoint.Exchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The exchanges with AWS APIs in all test JVMs of a build, each validated against the model of its
 * service. Each JVM writes a file when it ends; {@link ModelsIT} reads all files.
 *
 * @param requests the number of validated requests, by service and operation
 * @param answers the number of validated answers, by service and operation
 * @param violations what the models do not allow, each with an example
 * @param nanos the processor time that the validation has taken
 */
public record ValidatedTraffic(
    SortedMap<String, Long> requests,
    SortedMap<String, Long> answers,
    SortedMap<String, String> violations,
    long nanos) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path DIRECTORY =
      Path.of(System.getProperty("models.directory", "target/models/none"));
  private static final int SHOWN = 1_000;

  private static final ServiceModels MODELS = new ServiceModels();
  private static final SortedMap<String, AtomicLong> REQUESTS = new ConcurrentSkipListMap<>();
  private static final SortedMap<String, AtomicLong> ANSWERS = new ConcurrentSkipListMap<>();
  private static final SortedMap<String, String> VIOLATIONS = new ConcurrentSkipListMap<>();
  private static final AtomicLong NANOS = new AtomicLong();
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(ValidatedTraffic::write));
  }

  /** Validates and counts an exchange. */
  public static void validate(Exchange exchange) {
    long begun = THREADS.getCurrentThreadCpuTime();
    Result result = MODELS.validate(exchange);
    NANOS.addAndGet(THREADS.getCurrentThreadCpuTime() - begun);
    String name = result.service() + " " + result.operation();
    count(REQUESTS, name);
    report(name + " request ", result.request(), exchange);
    result
        .answer()
        .ifPresent(
            violations -> {
              count(ANSWERS, name);
              report(name + " answer ", violations, exchange);
            });
  }

  private static void count(SortedMap<String, AtomicLong> counts, String name) {
    counts.computeIfAbsent(name, unused -> new AtomicLong()).incrementAndGet();
  }

  @SuppressWarnings("SystemOut") // A test that runs alone shows what ModelsIT would report.
  private static void report(String prefix, List<Violation> violations, Exchange exchange) {
    for (Violation violation : violations) {
      String key = prefix + violation.at() + " (expected: " + violation.expected() + ")";
      String example =
          violation.value()
              + " by "
              + exchange.call().principal().name()
              + " -> "
              + exchange.status()
              + " "
              + exchange.answer().orElse("no answer")
              + ": "
              + exchange.call().body();
      String shown = example.substring(0, Math.min(SHOWN, example.length()));
      if (VIOLATIONS.putIfAbsent(key, shown) == null) {
        System.err.println("Not as AWS's model has it: " + key + ": " + shown);
      }
    }
  }

  private static void write() {
    SortedMap<String, Long> requests = new TreeMap<>();
    REQUESTS.forEach((name, count) -> requests.put(name, count.get()));
    SortedMap<String, Long> answers = new TreeMap<>();
    ANSWERS.forEach((name, count) -> answers.put(name, count.get()));
    try {
      Files.createDirectories(DIRECTORY);
      JSON.writeValue(
          DIRECTORY.resolve(ProcessHandle.current().pid() + ".json").toFile(),
          new ValidatedTraffic(requests, answers, VIOLATIONS, NANOS.get()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The traffic that all JVMs of this build have written.
   *
   * @throws IllegalStateException if there is none
   */
  static ValidatedTraffic ofThisBuild() throws IOException {
    if (Files.notExists(DIRECTORY)) {
      throw new IllegalStateException(
          "No validated requests in "
              + DIRECTORY
              + ". Run all end-to-end tests: mvn -pl e2e -am verify");
    }
    SortedMap<String, Long> requests = new TreeMap<>();
    SortedMap<String, Long> answers = new TreeMap<>();
    SortedMap<String, String> violations = new TreeMap<>();
    long nanos = 0;
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      for (Path file : files.toList()) {
        ValidatedTraffic one = JSON.readValue(file.toFile(), ValidatedTraffic.class);
        one.requests.forEach((name, count) -> requests.merge(name, count, Long::sum));
        one.answers.forEach((name, count) -> answers.merge(name, count, Long::sum));
        violations.putAll(one.violations);
        nanos += one.nanos;
      }
    }
    return new ValidatedTraffic(requests, answers, violations, nanos);
  }
}

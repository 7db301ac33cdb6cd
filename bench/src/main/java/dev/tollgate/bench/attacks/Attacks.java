package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Benchmark;
import dev.tollgate.bench.Measurement;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The command {@code attacks}: attacks a deployment as a stranger, a client or a web page could.
 */
public final class Attacks {
  static final Map<String, Supplier<Measurement>> ROWS = rows();

  private Attacks() {}

  /** Runs the command {@code attacks}. */
  public static void main(String... arguments) {
    Benchmark.run(
        "attacks", "Attack a running deployment and print a Markdown table.", ROWS, arguments);
  }

  private static Map<String, Supplier<Measurement>> rows() {
    Map<String, Supplier<Measurement>> rows = new LinkedHashMap<>();
    rows.put("unpaid-frames", UnpaidFrames::new);
    rows.put("stranger-at-authorizer", StrangerAtAuthorizer::new);
    rows.put("one-token-holder", OneTokenHolder::new);
    rows.put("slow-reader", SlowReader::new);
    rows.put("suspension", Suspension::new);
    rows.put("chart-library", ChartLibrary::new);
    rows.put("foreign-pages", ForeignPages::new);
    return Collections.unmodifiableMap(rows);
  }
}

package dev.tollgate.bench.storm;

import dev.tollgate.bench.Benchmark;
import dev.tollgate.bench.Measurement;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The command {@code storm}: measures a deployment under faults and permanent load. */
public final class Storm {
  static final Map<String, Supplier<Measurement>> ROWS = rows();

  private Storm() {}

  /** Runs the command {@code storm}. */
  public static void main(String... arguments) {
    Benchmark.run(
        "storm",
        "Measure a running deployment under faults and load, and print a Markdown table.",
        ROWS,
        arguments);
  }

  private static Map<String, Supplier<Measurement>> rows() {
    Map<String, Supplier<Measurement>> rows = new LinkedHashMap<>();
    rows.put("hibernating-bucket", HibernatingBucket::new);
    rows.put("next-token", NextToken::new);
    rows.put("lost-disconnects", LostDisconnects::new);
    rows.put("permanent-demand", PermanentDemand::new);
    rows.put("all-or-none-claims", AllOrNoneClaims::new);
    rows.put("resent-message", ResentMessage::new);
    return Collections.unmodifiableMap(rows);
  }
}

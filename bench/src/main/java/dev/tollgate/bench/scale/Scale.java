package dev.tollgate.bench.scale;

import dev.tollgate.bench.Panels;
import dev.tollgate.bench.scale.Hour.Plan;
import dev.tollgate.core.bucket.FillMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Simulates an hour of many tenants, prints Markdown, and draws a figure. */
public final class Scale {
  private static final long SEED = 1;
  private static final int MINUTES = 60;

  /** From here on, only configurations with {@code shareCredentials}, for the time they take. */
  private static final int MANY = 100_000;

  /** A raised quota of new connections a second: twice the default. */
  private static final long RAISED = 1_000;

  private Scale() {}

  /**
   * Arguments: the numbers of tenants; 1,000, 10,000 and 100,000 without any. Without any, {@code
   * docs/scale.svg} is drawn, too.
   */
  public static void main(String[] arguments) {
    Map<String, Double> prices = ListPrices.read(Path.of("docs/prices.yaml"));
    Report report = new Report(System.out, prices);
    List<Integer> sizes =
        arguments.length == 0
            ? List.of(1_000, 10_000, 100_000)
            : Arrays.stream(arguments).map(Integer::valueOf).toList();
    List<Hour> all = new ArrayList<>();
    for (int tenants : sizes) {
      List<Hour> hours = new ArrayList<>();
      for (Plan plan : plans(tenants)) {
        long began = System.nanoTime();
        hours.add(new Hour(plan, prices).live());
        System.err.printf(
            "%,d tenants, %s: %d s%n",
            tenants, plan.label(), (System.nanoTime() - began) / 1_000_000_000);
      }
      report.print(tenants, hours);
      all.addAll(hours);
    }
    report.printRollOuts();
    sizes.forEach(report::printRollOut);
    report.print(new Suspects(SEED, prices));
    report.printSources();
    if (arguments.length == 0) {
      Panels.write(Drawing.svg(all), Path.of("docs/scale.svg"));
    }
  }

  private static List<Plan> plans(int tenants) {
    Plan producer = Plan.of(tenants, FillMode.PRODUCER, MINUTES, SEED);
    Plan shared = Plan.of(tenants, FillMode.SHARED, MINUTES, SEED).sharingCredentials();
    Plan raised = shared.withNewConnections(RAISED);
    return tenants >= MANY
        ? List.of(producer.sharingCredentials(), shared, raised)
        : List.of(
            producer,
            producer.spreadEvenly(),
            Plan.of(tenants, FillMode.SHARED, MINUTES, SEED),
            shared,
            raised);
  }
}

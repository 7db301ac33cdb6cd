package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Hour.Plan;
import dev.tollgate.core.bucket.FillMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Simulates an hour of many tenants, and prints Markdown. */
public final class Scale {
  private static final long SEED = 1;
  private static final int MINUTES = 60;

  /** From here on, only configurations with {@code shareCredentials}, for the time they take. */
  private static final int MANY = 100_000;

  private Scale() {}

  /** Arguments: the numbers of tenants; 1,000 and 10,000 without any. */
  public static void main(String[] arguments) {
    Map<String, Double> prices = ListPrices.read(Path.of("docs/prices.yaml"));
    Report report = new Report(System.out, prices);
    List<Integer> sizes =
        arguments.length == 0
            ? List.of(1_000, 10_000)
            : Arrays.stream(arguments).map(Integer::valueOf).toList();
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
    }
    report.printRollOuts();
    sizes.forEach(report::printRollOut);
    report.print(new Suspects(SEED, prices));
    report.printSources();
  }

  private static List<Plan> plans(int tenants) {
    boolean isMany = tenants >= MANY;
    List<Plan> plans = new ArrayList<>();
    plans.add(new Plan(tenants, FillMode.PRODUCER, false, isMany, MINUTES, SEED));
    if (!isMany) {
      plans.add(new Plan(tenants, FillMode.PRODUCER, true, false, MINUTES, SEED));
      plans.add(new Plan(tenants, FillMode.SHARED, false, false, MINUTES, SEED));
    }
    plans.add(new Plan(tenants, FillMode.SHARED, false, true, MINUTES, SEED));
    return plans;
  }
}

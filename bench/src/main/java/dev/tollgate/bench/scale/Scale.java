package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.core.bucket.FillMode;
import java.util.Map;

/** Simulates hours of many tenants, and prints Markdown. */
public final class Scale {
  private Scale() {}

  /** Arguments: the numbers of tenants. */
  public static void main(String[] arguments) {
    for (String argument : arguments) {
      int tenants = Integer.parseInt(argument);
      for (FillMode mode : new FillMode[] {FillMode.PRODUCER, FillMode.SHARED}) {
        long began = System.nanoTime();
        Hour hour = new Hour(new Hour.Plan(tenants, mode, false, 60, 1), Map.of()).live();
        System.out.printf(
            "%n## %,d tenants, %s: %.0f s%n", tenants, mode, (System.nanoTime() - began) / 1e9);
        print(hour);
      }
    }
  }

  private static void print(Hour hour) {
    for (Service service : Service.values()) {
      Quota q = hour.world().aws().quota(service);
      System.out.printf("%s: peak %,d of %,d, refused %,d%n", q.name(), q.peak(), q.perSecond(), q.refused());
    }
    Functions f = hour.world().functions();
    System.out.printf("concurrency %,d%n", f.peak());
    f.usages().forEach((n, u) -> System.out.printf("%s: %,d invocations, peak %,d, throttled %,d, instances %,d%n", n, u.invocations(), u.peak(), u.throttled(), u.instances()));
    Samples l = hour.fills().lags();
    System.out.printf("fills %,d lag p50 %.1f p99 %.1f max %.1f dropped %,d failed %,d%n", hour.fills().fired(), l.percentile(50)/1e6, l.percentile(99)/1e6, l.max()/1e6, hour.fills().dropped(), hour.fills().failed());
    for (Hour.Storm s : hour.storms()) {
      System.out.printf("storm %,d clients, admitted %,d, refused %,d, attempts %.3f, last %d s, against ideal %.3f, gateway %,d, errors %,d, other %,d%n", s.clients(), s.admitted(), s.refusedOnce(), s.attemptsAfterRefusal(), s.lastSeconds(), s.lastAgainstIdeal(), s.refusedByGateway(), s.errors(), s.otherRefusals());
    }
    System.out.printf("neighbours calm p50 %.3f p99 %.3f (%,d) storm p50 %.3f p99 %.3f (%,d) gateway refused %,d of %,d%n", hour.calm().percentile(50)/1e6, hour.calm().percentile(99)/1e6, hour.calm().size(), hour.stormy().percentile(50)/1e6, hour.stormy().percentile(99)/1e6, hour.stormy().size(), hour.neighboursRefusedByGateway(), hour.neighbourHandshakes());
    System.out.printf("heals %,d p50 %.0f p99 %.0f max %.0f ghosts left %,d; errors %,d, failures %,d, row writes %,d%n", hour.heals().size(), hour.heals().percentile(50)/1e6, hour.heals().percentile(99)/1e6, hour.heals().max()/1e6, hour.ghosts(), hour.functionErrors(), hour.world().aws().failures(), hour.world().aws().peakRowWrites());
  }
}

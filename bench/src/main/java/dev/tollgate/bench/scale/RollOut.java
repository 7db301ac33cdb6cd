package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.memory.InMemoryTiers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;

/** A change of the tier of all tenants, which the sweep rolls out. */
final class RollOut {
  private static final long MINUTE = 60 * SimulatedTime.SECOND;
  private static final int MAX_MINUTES = 240;
  private static final int WORKERS = 16;
  private static final Duration SWEEP = Duration.ofSeconds(40);

  private final World world;
  private final SimulatedTime time;
  private final InMemoryTiers tierRows = new InMemoryTiers();
  private final Queue<Closed> closed = new PriorityQueue<>(Comparator.comparingLong(Closed::at));
  private final Functions.Function<TierRollOut> sweep;
  private final Tier next;
  private long changed;

  /** A range that a worker has finished; the sweep must not see that before the worker's time. */
  private record Closed(long at, Method method, Object[] arguments) {}

  /** A roll-out of a new rate to this many tenants. */
  RollOut(int tenants, long seed, Map<String, Double> prices) {
    world = new World(seed, prices);
    time = world.time();
    Tier first = World.tier(0, FillMode.SHARED);
    tierRows.put(first);
    for (int i = 0; i < tenants; i++) {
      world.onboard(i, first);
    }
    next =
        new Tier(
                first.name(),
                first.isolation(),
                first.limits().with(Map.of(Limit.TENANT_PER_MINUTE, 61L)),
                first.buckets(),
                first.fillPolicy(),
                first.onUnavailable(),
                first.line(),
                first.retreat(),
                1,
                1)
            .withVersionAfter(first.version());
    sweep = world.functions().function("sweep", this::process);
  }

  private TierRollOut process() {
    Ports ports = world.ports(tiers());
    return new TierRollOut(
        TierRollOut.MAX_RANGE,
        ports.tenants(),
        ports.tiers(),
        new TenantLifecycle(ports, world.reconciler(ports), time),
        new ParallelTasks(time.executor(WORKERS)),
        time::pause,
        time);
  }

  /** Rolls out; returns the seconds until the tier counts as rolled out. */
  long run() {
    tierRows.put(next);
    for (int minute = 1; minute <= MAX_MINUTES; minute++) {
      time.at(minute * MINUTE, this::sweep);
      time.runUntil(minute * MINUTE);
      Tier stored = tierRows.find(next.name()).orElseThrow();
      if (TierRollOut.isRolledOut(stored)) {
        return changed / SimulatedTime.SECOND - 60;
      }
    }
    return -1;
  }

  World world() {
    return world;
  }

  private void sweep() {
    sweep.invoke(
        process -> {
          Tier stored = tierRows.find(next.name()).orElseThrow();
          boolean done =
              process
                  .code()
                  .resume(
                      stored,
                      chunk ->
                          sweep.invoke(
                              worker ->
                                  worker.code().work(chunk, Invocation.of(time, SWEEP, l -> {}))),
                      Invocation.of(time, SWEEP, line -> {}));
          changed = time.now();
          if (done) {
            tierRows.markRolledOut(next.name(), next.version());
          }
        });
  }

  private Tiers tiers() {
    return (Tiers)
        Proxy.newProxyInstance(
            Tiers.class.getClassLoader(),
            new Class<?>[] {Tiers.class},
            (proxy, method, arguments) -> {
              time.join();
              time.pass(Latency.DYNAMODB.draw(world.aws().random()));
              if (method.getName().equals("close")) {
                closed.add(new Closed(time.now(), method, arguments));
                return WriteResult.DONE;
              }
              while (!closed.isEmpty() && closed.element().at() <= time.now()) {
                Closed due = closed.remove();
                call(due.method(), due.arguments());
              }
              return call(method, arguments);
            });
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(tierRows, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }

  /** The most writes of tenants' rows in a second. */
  long peakWrites() {
    return world.aws().quota(Service.TENANT_WRITES).peak();
  }
}

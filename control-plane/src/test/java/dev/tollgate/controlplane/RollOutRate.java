package dev.tollgate.controlplane;

import dev.tollgate.controlplane.doctor.TokenWatch;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.memory.InMemoryConditions;
import dev.tollgate.core.testing.memory.InMemoryHistory;
import dev.tollgate.http.testing.RecordingContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how many tenants a second a roll-out changes: a program, not a test. Every call of a
 * port takes 5 to 10 ms, as a request to DynamoDB does, and invocations of the sweep have 16
 * threads each. With a limit, the tenants' rows are written no faster than one partition of the
 * index {@code byTier} takes them.
 *
 * <p>Arguments: the number of tenants (20,000), and the writes a second of one partition (none).
 */
final class RollOutRate {
  private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final TierName OWN = new TierName("own");

  private final ControlPlaneFixture stores = new ControlPlaneFixture();
  private final ExecutorService invocations = Threads.unbounded("invocation");
  private final AtomicLong calls = new AtomicLong();
  private final AtomicLong chunks = new AtomicLong();
  private final long nanosPerWrite;
  private final AtomicLong nextWrite = new AtomicLong(System.nanoTime());

  private RollOutRate(long writesPerSecond) {
    nanosPerWrite = writesPerSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / writesPerSecond;
  }

  /** Measures a roll-out and prints the result. */
  public static void main(String[] arguments) {
    int tenants = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20_000;
    long writesPerSecond = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
    new RollOutRate(writesPerSecond).measure(tenants);
    System.exit(0);
  }

  private void measure(int tenants) {
    Tier bronze = Tier.DEFAULTS.get(0);
    Tier first =
        new Tier(
            OWN,
            bronze.isolation(),
            bronze.limits(),
            bronze.buckets(),
            bronze.fillPolicy(),
            bronze.onUnavailable(),
            bronze.line(),
            bronze.retreat(),
            1,
            1);
    stores.tiers.put(first);
    for (int i = 0; i < tenants; i++) {
      Tenant tenant =
          Tenant.onboarded(new TenantId("t%06d".formatted(i)), first, Overrides.NONE).inEffect();
      stores.tenants.create(tenant);
      tenant
          .buckets()
          .forEach(
              (action, spec) ->
                  stores.buckets.open(
                      Bucket.opened(
                          new BucketId(tenant.id(), action),
                          spec,
                          InstantSource.system().instant())));
    }
    stores.tiers.put(
        new Tier(
                OWN,
                first.isolation(),
                first
                    .limits()
                    .with(Map.of(Limit.TENANT_PER_MINUTE, 61L, Limit.MESSAGES_PER_MINUTE, 61L)),
                first.buckets(),
                first.fillPolicy(),
                first.onUnavailable(),
                first.line(),
                first.retreat(),
                1,
                1)
            .withVersionAfter(1));
    long begin = System.nanoTime();
    int sweeps = 0;
    while (!TierRollOut.isRolledOut(stores.tiers.find(OWN).orElseThrow())) {
      sweep(Map.of());
      sweeps++;
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf(
        "%,d tenants in %.1f s: %,.0f tenants a second; %.2f calls a tenant; %,d chunks; %d sweeps%n",
        tenants, seconds, tenants / seconds, (double) calls.get() / tenants, chunks.get(), sweeps);
  }

  /** One invocation of the sweep, with threads of its own. */
  private Map<String, Long> sweep(Map<String, Object> event) {
    ExecutorService workers = Threads.upTo(16, "tenants");
    ControlPlane controlPlane =
        new ControlPlane(
            ports(),
            new Release("processor:1"),
            500,
            Pause.real(),
            workers,
            new CurrentAuthor(),
            InstantSource.system());
    return new Sweep(
            controlPlane,
            ControlPlaneFixture.watch(
                controlPlane, new InMemoryHistory(), new InMemoryConditions()),
            new TokenWatch(controlPlane.ports().activity(), controlPlane.parallel()),
            arn -> this::send)
        .handleRequest(event, new RecordingContext(Duration.ofSeconds(50)));
  }

  private void send(Chunk chunk) {
    chunks.incrementAndGet();
    invocations.execute(() -> sweep(new HashMap<>(chunk.toEvent())));
  }

  private Ports ports() {
    return new Ports(
        slow(Tenants.class, stores.tenants),
        slow(Tiers.class, stores.tiers),
        slow(Buckets.class, stores.buckets),
        slow(Buckets.class, stores.buckets),
        slow(TokenQueue.class, stores.tokens),
        slow(BucketQueues.class, stores.queues),
        slow(FillSchedules.class, stores.schedules),
        Optional.empty(),
        slow(Silos.class, stores.silos),
        slow(SiloQueues.class, stores.siloQueues),
        slow(SiloFunctions.class, stores.siloFunctions),
        slow(Sessions.class, stores.sessions),
        slow(Connections.class, stores.sessions),
        slow(Activity.class, stores.activity),
        slow(Sockets.class, stores.sockets),
        Optional.empty());
  }

  private <T> T slow(Class<T> port, T target) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              calls.incrementAndGet();
              LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MIN_NANOS, MAX_NANOS));
              if (port == Tenants.class && method.getName().equals("replace")) {
                awaitPartition();
              }
              try {
                return method.invoke(target, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            }));
  }

  /** Waits until the partition takes one more write. */
  private void awaitPartition() {
    if (nanosPerWrite > 0) {
      long due =
          nextWrite.updateAndGet(
              last -> Math.max(last, System.nanoTime() - nanosPerWrite) + nanosPerWrite);
      LockSupport.parkNanos(due - System.nanoTime());
    }
  }
}

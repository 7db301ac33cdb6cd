package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Request;
import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.reconcile.Reconciler;
import dev.tollgate.controlplane.silo.SiloSteps;
import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.fill.AdaptiveExecutor;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.bucket.fill.ShardMaintenance;
import dev.tollgate.core.bucket.fill.ShardTurn;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.RefusalTally;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.memory.InMemoryActivity;
import dev.tollgate.core.testing.memory.InMemoryAdmitAllSwitch;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryFacts;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules;
import dev.tollgate.core.testing.memory.InMemorySessions;
import dev.tollgate.core.testing.memory.InMemorySiloFunctions;
import dev.tollgate.core.testing.memory.InMemorySiloQueues;
import dev.tollgate.core.testing.memory.InMemorySilos;
import dev.tollgate.core.testing.memory.InMemoryTenants;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** The product over metered in-memory ports, and what its functions run. */
final class World {
  /** What a new process of the authorizer and of {@code $connect} has. */
  record Handshaker(Admission admission, Registration registration) {}

  /** What a process of the token producer has. */
  record TokenProducer(BucketMaintenance ofBuckets, ShardMaintenance ofShards) {}

  private static final int THREADS = 1_000;
  private static final int PARALLEL = 32;
  private static final long LONG_SESSION = 7_200;

  private static final Request CREDENTIALS = Request.read(Service.CREDENTIAL_READS, 1);

  private final boolean shareCredentials;
  private final SimulatedTime time = new SimulatedTime();
  private final Aws aws;
  private final Functions functions;
  private final CompactTokenQueue queue = new CompactTokenQueue(time);
  private final InMemoryBuckets rows = new InMemoryBuckets();
  private final InMemorySessions sessionRows = new InMemorySessions();
  private final InMemoryTenants tenantRows = new InMemoryTenants();
  private final List<TenantId> live = new ArrayList<>();
  private final Set<String> openSockets = new HashSet<>();
  private final Tenants tenants;
  private final Buckets buckets;
  private final TokenQueue tokens;
  private final Sessions sessions;
  private final Connections connections;
  private final Activity activity;
  private final AdmissionFactsReader facts;
  private final MeteredPorts metered;
  private final Functions.Function<TokenProducer> producer;
  private final Functions.Function<Handshaker> authorizer;
  private final Functions.Function<Handshaker> connect;
  private final Functions.Function<Disconnection> disconnect;
  private SelfInvocation<ShardTurn> turns =
      turn -> {
        throw new Unavailable("no other invocation");
      };

  World(long seed, Map<String, Double> prices) {
    this(seed, false, prices);
  }

  /**
   * A world without tenants.
   *
   * @param shareCredentials whether instances share credentials through a table, an option of the
   *     product
   */
  World(long seed, boolean shareCredentials, Map<String, Double> prices) {
    this.shareCredentials = shareCredentials;
    aws = new Aws(time, new Random(seed), prices);
    functions = new Functions(time, aws);
    metered = new MeteredPorts(time, aws);
    tenants = metered.metered(Tenants.class, tenantRows);
    buckets = metered.metered(Buckets.class, new DueIndex(rows, time).buckets());
    tokens = metered.metered(TokenQueue.class, queue);
    sessions = metered.metered(Sessions.class, sessionRows);
    connections = metered.metered(Connections.class, sessionRows);
    activity = metered.metered(Activity.class, new InMemoryActivity(sessionRows, rows));
    facts =
        metered.metered(
            AdmissionFactsReader.class, new InMemoryFacts(tenantRows, sessionRows, rows));
    producer = functions.function("token producer", this::tokenProducer);
    authorizer = functions.function("authorizer", this::handshaker);
    connect = functions.function("$connect", this::handshaker);
    disconnect = functions.function("$disconnect", () -> new Disconnection(connections));
  }

  SimulatedTime time() {
    return time;
  }

  Aws aws() {
    return aws;
  }

  Functions functions() {
    return functions;
  }

  InMemoryBuckets rows() {
    return rows;
  }

  Buckets buckets() {
    return buckets;
  }

  TokenQueue tokens() {
    return tokens;
  }

  InMemorySessions sessionRows() {
    return sessionRows;
  }

  CompactTokenQueue queue() {
    return queue;
  }

  Set<String> openSockets() {
    return openSockets;
  }

  AdmissionFactsReader facts() {
    return facts;
  }

  Functions.Function<TokenProducer> producer() {
    return producer;
  }

  Functions.Function<Handshaker> authorizer() {
    return authorizer;
  }

  Functions.Function<Handshaker> connect() {
    return connect;
  }

  Functions.Function<Disconnection> disconnect() {
    return disconnect;
  }

  /** A default tier whose buckets never hibernate: 0 for bronze, 1 for silver, 2 for gold. */
  static Tier tier(int index, FillMode mode) {
    Tier standard = Tier.DEFAULTS.get(index);
    return new Tier(
        standard.name(),
        standard.isolation(),
        standard.limits(),
        standard.buckets(),
        new FillPolicy(mode, 0),
        standard.onUnavailable(),
        standard.line(),
        standard.retreat(),
        1,
        1);
  }

  /** Onboards a tenant whose buckets are full. */
  Tenant onboard(int number, Tier tier) {
    Tenant tenant =
        Tenant.onboarded(
                new TenantId("t%07d".formatted(number)),
                tier,
                Overrides.of(Map.of(Limit.SESSION_TTL, LONG_SESSION)))
            .inEffect();
    tenantRows.create(tenant);
    sessionRows.createCount(tenant.id());
    sessionRows.acquireCreation(tenant.id(), Gcra.UNLIMITED, time.instant());
    live.add(tenant.id());
    tenant.buckets().forEach((action, spec) -> open(new BucketId(tenant.id(), action), spec));
    return tenant;
  }

  /** Opens a full bucket. */
  void open(BucketId id, BucketSpec spec) {
    queue.create(id);
    queue.change(id, spec.capacity());
    Bucket opened = Bucket.opened(id, spec, time.instant());
    rows.open(opened);
    Bucket full = opened.filled(opened.step(time.instant(), 0), 0, time.instant());
    rows.replace(full);
  }

  /** Runs this whenever a fill has counted the tokens of its bucket. */
  void onFill(Runnable listener) {
    metered.onFill(listener);
  }

  /** Passes the rest of a shard's turn to this. */
  void onTurn(SelfInvocation<ShardTurn> next) {
    turns = next;
  }

  /** A new process of the token producer. */
  private TokenProducer tokenProducer() {
    BucketMaintenance ofBuckets =
        new BucketMaintenance(
            buckets,
            tokens,
            metered.metered(BucketQueues.class, new Queues()),
            metered.metered(FillSchedules.class, new InMemoryFillSchedules()),
            new ReconcileRequests(tenants),
            time);
    return new TokenProducer(
        ofBuckets,
        new ShardMaintenance(
            buckets,
            ofBuckets,
            turn -> turns.send(turn),
            new AdaptiveExecutor(time.executor(AdaptiveExecutor.MOST)),
            time));
  }

  /** Runs the tenant's first request in a process, which needs its credentials. */
  void credentials(Functions.Instance<?> instance, int tenant) {
    if (instance.tenants().contains(tenant)) {
      return;
    }
    if (shareCredentials) {
      aws.send(CREDENTIALS);
    }
    if (!shareCredentials || !instance.shared().contains(tenant)) {
      aws.send(Request.free(Service.STS));
    }
    instance.shared().add(tenant);
    instance.tenants().add(tenant);
  }

  private Handshaker handshaker() {
    Enforcement enforcement = new Enforcement(new InMemoryAdmitAllSwitch(), time);
    RefusalTally tally = new RefusalTally(activity, time.executor(THREADS), time);
    Claims claims =
        new Claims(
            buckets, tokens, new AsynchronousFills(), time.executor(THREADS), time::pause, time);
    return new Handshaker(
        new Admission(
            facts, claims, sessions, tally, enforcement, time.executor(THREADS), time::pause, time),
        new Registration(
            connections,
            new HeldTokens(buckets, tokens, time),
            tally,
            enforcement,
            time.executor(THREADS),
            time::pause,
            time));
  }

  /** A new process of the housekeeper. */
  Housekeeping housekeeping() {
    Recount recount = recount();
    Sockets sockets = metered.metered(Sockets.class, new OpenSockets());
    TenantVisit visit =
        new TenantVisit(
            tenants,
            metered.metered(LiveTenants.class, new Live()),
            sessions,
            connections,
            sockets,
            lifecycle(sockets),
            recount,
            time.executor(PARALLEL),
            time);
    return new Housekeeping(
        metered.metered(LiveTenants.class, new Live()),
        visit,
        recount,
        Housekeeping.CHECKS_A_MINUTE,
        time.executor(PARALLEL),
        time::pause,
        time);
  }

  /** Recounts as the function of ended sessions does. */
  Recount recount() {
    return new Recount(sessions, connections, time::pause);
  }

  /** The ports of the control plane. */
  Ports ports(Tiers tiers) {
    return new Ports(
        tenants,
        tiers,
        buckets,
        buckets,
        tokens,
        metered.metered(BucketQueues.class, new Queues()),
        metered.metered(FillSchedules.class, new InMemoryFillSchedules()),
        Optional.empty(),
        new InMemorySilos(),
        new InMemorySiloQueues(time),
        new InMemorySiloFunctions(),
        sessions,
        connections,
        activity,
        metered.metered(Sockets.class, new OpenSockets()),
        Optional.empty());
  }

  /** A new process of the control plane. */
  Reconciler reconciler(Ports ports) {
    return new Reconciler(
        ports,
        new BucketFill(ports.buckets(), ports.tokens(), time),
        lifecycle(ports.sockets()),
        new SiloSteps(ports, new Release("processor:1"), time::pause, time),
        time::pause,
        time);
  }

  /** Stores a tenant that nothing was provided for. */
  void store(Tenant tenant) {
    tenantRows.create(tenant);
  }

  private SessionLifecycle lifecycle(Sockets sockets) {
    return new SessionLifecycle(sessions, connections, sockets, new SecureRandom(), time);
  }

  /** The bucket that pays for a tenant's connections. */
  static BucketId connects(Tenant tenant) {
    return new BucketId(tenant.id(), Action.CONNECT);
  }

  private final class AsynchronousFills implements FillRequests {
    @Override
    public void send(BucketId id) {
      aws.send(Request.free(Service.LAMBDA_INVOKES));
      time.at(
          time.now(),
          () ->
              producer.invoke(
                  process ->
                      Unavailable.ignore(
                          () ->
                              process
                                  .code()
                                  .ofBuckets()
                                  .maintainOnRequest(id, time.instant().plusSeconds(35)))));
    }

    @Override
    public void sendAndWait(BucketId id) {
      send(id);
    }
  }

  private final class Queues implements BucketQueues {
    @Override
    public QueueCreation ensure(BucketId id, Duration lifetime) {
      queue.create(id);
      return QueueCreation.EXISTED;
    }

    @Override
    public void setLifetime(BucketId id, Duration lifetime) {}

    @Override
    public Optional<Duration> lifetime(BucketId id) {
      return Optional.of(Duration.ofDays(14));
    }

    @Override
    public Page<BucketId> list(Optional<String> cursor, int max) {
      return new Page<>(List.of(), Optional.empty());
    }

    @Override
    public Owner owner(BucketId id) {
      return Owner.THIS_DEPLOYMENT;
    }

    @Override
    public void delete(BucketId id) {}
  }

  /** The tenants with sessions, in the order of their ids. */
  private final class Live implements LiveTenants {
    @Override
    public List<TenantId> list(Optional<TenantId> after, int max) {
      int from = 0;
      if (after.isPresent()) {
        from = Integer.parseInt(after.get().value().substring(1)) + 1;
      }
      return List.copyOf(
          live.subList(Math.min(from, live.size()), Math.min(from + max, live.size())));
    }

    @Override
    public Optional<Instant> nextArrival(TenantId tenant) {
      return sessionRows.nextArrival(tenant);
    }

    @Override
    public WriteResult remove(TenantId tenant, Instant arrival) {
      return WriteResult.CONFLICT;
    }
  }

  private final class OpenSockets implements Sockets {
    @Override
    public CloseResult close(String connectionId) {
      return openSockets.remove(connectionId) ? CloseResult.CLOSED : CloseResult.GONE;
    }

    @Override
    public boolean isOpen(String connectionId) {
      return openSockets.contains(connectionId);
    }

    @Override
    public PostResult post(String connectionId, String frame) {
      return isOpen(connectionId) ? PostResult.SENT : PostResult.GONE;
    }
  }
}

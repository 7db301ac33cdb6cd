package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.tollgate.controlplane.api.ControlPlaneRoutes.Stores;
import dev.tollgate.controlplane.conditions.ConditionWatch;
import dev.tollgate.controlplane.doctor.TestPolicies;
import dev.tollgate.controlplane.doctor.TokenWatch;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.alarm.Alarm;
import dev.tollgate.core.alarm.Alarms;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.history.History;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.PushPage;
import dev.tollgate.core.message.PushQueue;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemoryActivity;
import dev.tollgate.core.testing.memory.InMemoryAdmitAllSwitch;
import dev.tollgate.core.testing.memory.InMemoryAuditLog;
import dev.tollgate.core.testing.memory.InMemoryBucketQueues;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryConditions;
import dev.tollgate.core.testing.memory.InMemoryCredentialsPolicy;
import dev.tollgate.core.testing.memory.InMemoryDeadLetters;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules.Scheduled;
import dev.tollgate.core.testing.memory.InMemoryHistory;
import dev.tollgate.core.testing.memory.InMemoryIdempotencyKeys;
import dev.tollgate.core.testing.memory.InMemorySessions;
import dev.tollgate.core.testing.memory.InMemorySiloFunctions;
import dev.tollgate.core.testing.memory.InMemorySiloQueues;
import dev.tollgate.core.testing.memory.InMemorySilos;
import dev.tollgate.core.testing.memory.InMemoryTenants;
import dev.tollgate.core.testing.memory.InMemoryTiers;
import dev.tollgate.core.testing.memory.InMemoryTokenQueue;
import dev.tollgate.core.testing.memory.InMemoryWindowSchedules;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.http.testing.Exchange;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.HttpContract;
import dev.tollgate.http.testing.RecordingContext;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The control plane over in-memory ports. */
public final class ControlPlaneFixture {
  static final Instant START = Instant.parse("2026-03-12T09:15:02Z");

  /** The contract that every exchange with the API must match. */
  static final HttpContract CONTRACT =
      HttpContract.of(Path.of("../docs/openapi/control-plane.yaml"));

  private static final JsonMapper JSON = new JsonMapper();

  public final ManualClock clock = new ManualClock(START);
  public final InMemoryTenants tenants = new InMemoryTenants();
  final InMemoryTiers tiers = new InMemoryTiers();
  final InMemoryBuckets buckets = new InMemoryBuckets();
  final InMemoryTokenQueue tokens = new InMemoryTokenQueue(clock);
  final InMemoryBucketQueues queues = new InMemoryBucketQueues(tokens, clock);
  final InMemoryFillSchedules schedules = new InMemoryFillSchedules();
  final InMemoryWindowSchedules windows = new InMemoryWindowSchedules();
  final InMemorySilos silos = new InMemorySilos();
  final InMemorySiloQueues siloQueues = new InMemorySiloQueues(clock);
  final InMemorySiloFunctions siloFunctions = new InMemorySiloFunctions();
  final InMemorySessions sessions = new InMemorySessions();
  final InMemoryActivity activity = new InMemoryActivity(sessions, buckets);
  final InMemoryHistory history = new InMemoryHistory();
  final InMemoryAuditLog audit = new InMemoryAuditLog();
  final InMemoryDeadLetters deadLetters = new InMemoryDeadLetters(clock);
  final InMemoryCredentialsPolicy credentialsPolicy =
      new InMemoryCredentialsPolicy(TestPolicies.TABLE, TestPolicies.ROLES);
  final List<Alarm> alarms = new ArrayList<>();

  final CurrentAuthor author = new CurrentAuthor();
  final InMemoryConditions conditions = new InMemoryConditions();
  final InMemoryAdmitAllSwitch admitAll = new InMemoryAdmitAllSwitch();
  public final InMemoryIdempotencyKeys keys = new InMemoryIdempotencyKeys();
  final RecordingSockets sockets = new RecordingSockets();
  public final Faults faults = new Faults();
  final List<Duration> pauses = new CopyOnWriteArrayList<>();

  /** The chunks that were requested and not yet delivered. */
  final Queue<Chunk> chunks = new ConcurrentLinkedQueue<>();

  /** The messages of tenant acme. */
  final SiloMessageStream messages = new SiloMessageStream(this, new TenantId("acme"));

  RecordingContext context = new RecordingContext(Duration.ofSeconds(29));

  private Ports ports =
      new Ports(
          faults.around(Tenants.class, tenants),
          faults.around(Tiers.class, tiers),
          faults.around(Buckets.class, buckets),
          faults.around(Buckets.class, buckets),
          faults.around(TokenQueue.class, tokens),
          faults.around(BucketQueues.class, queues),
          faults.around(FillSchedules.class, schedules),
          Optional.of(faults.around(WindowSchedules.class, windows)),
          faults.around(Silos.class, silos),
          faults.around(SiloQueues.class, siloQueues),
          faults.around(SiloFunctions.class, siloFunctions),
          faults.around(Sessions.class, sessions),
          faults.around(Connections.class, sessions),
          faults.around(Activity.class, activity),
          faults.around(Sockets.class, sockets),
          Optional.of(faults.around(CredentialsPolicy.class, credentialsPolicy)));

  /** The requested pages of pushes to whole tenants. */
  final List<PushPage> pushed = new ArrayList<>();

  /** Whether pages are added and the answer fails. */
  boolean loseAnswersOfPushQueue;

  private final ExecutorService workers =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
          });

  /** What happens while a function pauses. */
  Consumer<Duration> duringPauses = duration -> {};

  private int rollOutRange = TierRollOut.MAX_RANGE;
  private int connectionQuota = 500;
  private Release release = new Release("processor:1");
  private ControlPlane controlPlane = controlPlane();
  private ControlPlaneApi api = newApi();
  private Sweep sweep = newSweep();

  /** The control plane of a deployment whose policies are as deployed. */
  public ControlPlaneFixture() {
    credentialsPolicy.set(Optional.of(TestPolicies.deployed()));
  }

  private ControlPlaneApi newApi() {
    return new ControlPlaneApi(
        controlPlane,
        new Stores(
            keys,
            faults.around(History.class, history),
            audit,
            admitAll,
            faults.around(Alarms.class, () -> List.copyOf(alarms)),
            deadLetters,
            tenants,
            new Pushes(
                ports.sessions(),
                ports.sockets(),
                new Disconnection(ports.connections()),
                Runnable::run,
                new Timing(Runnable::run, clock, System::nanoTime)),
            faults.around(PushQueue.class, this::addPage)));
  }

  private void addPage(PushPage page) {
    pushed.add(page);
    if (loseAnswersOfPushQueue) {
      throw new Unavailable("SQS SendMessage: the answer was lost");
    }
  }

  private Sweep newSweep() {
    return new Sweep(
        controlPlane,
        watch(
            controlPlane,
            faults.around(History.class, history),
            faults.around(Conditions.class, conditions)),
        new TokenWatch(ports.activity(), controlPlane.parallel()),
        arn -> chunks::add);
  }

  static ConditionWatch watch(ControlPlane controlPlane, History history, Conditions conditions) {
    Ports ports = controlPlane.ports();
    return new ConditionWatch(
        new ConditionWatch.Rows(ports.tenants(), ports.connections(), history, conditions),
        controlPlane.catalog(),
        controlPlane.parallel());
  }

  private ControlPlane controlPlane() {
    return new ControlPlane(
        ports, release, connectionQuota, rollOutRange, this::pause, workers, author, clock);
  }

  private void pause(Duration duration) {
    pauses.add(duration);
    duringPauses.accept(duration);
  }

  /** Replaces the functions by some whose roll-outs have ranges of this many tenants. */
  void deployWithRollOutRange(int tenantsOfRange) {
    rollOutRange = tenantsOfRange;
    deploy(release);
  }

  /** Replaces the functions by those of another release. */
  void deploy(Release next) {
    release = next;
    controlPlane = controlPlane();
    api = newApi();
    sweep = newSweep();
  }

  /** Replaces the functions by those with another quota of new connections a second. */
  void deploy(int newConnectionQuota) {
    connectionQuota = newConnectionQuota;
    deploy(release);
  }

  /** Replaces the functions by those of a deployment whose instances share no credentials. */
  void deployWithoutSharedCredentials() {
    ports =
        new Ports(
            ports.tenants(),
            ports.tiers(),
            ports.buckets(),
            ports.rollOutBuckets(),
            ports.tokens(),
            ports.queues(),
            ports.schedules(),
            ports.windows(),
            ports.silos(),
            ports.siloQueues(),
            ports.siloFunctions(),
            ports.sessions(),
            ports.connections(),
            ports.activity(),
            ports.sockets(),
            Optional.empty());
    deploy(release);
  }

  ControlPlaneApi api() {
    return api;
  }

  Release release() {
    return release;
  }

  /** A response of the API. */
  public record Answer(int status, Map<String, String> headers, JsonNode document) {
    JsonNode bucket(String action) {
      for (JsonNode bucket : document.get("buckets")) {
        if (bucket.get("action").textValue().equals(action)) {
          return bucket;
        }
      }
      throw new AssertionError("no bucket " + action + " in " + document);
    }
  }

  public Answer send(APIGatewayV2HTTPEvent event) {
    APIGatewayV2HTTPResponse response = api.handleRequest(event, context);
    Exchange.of(event, response).ifPresent(CONTRACT::check);
    try {
      return new Answer(
          response.getStatusCode(), response.getHeaders(), JSON.readTree(response.getBody()));
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(response.getBody(), malformed);
    }
  }

  Answer post(String body) {
    return send(HttpApiEvents.of("POST /tenants", Map.of(), body));
  }

  public Answer onboard(String id, String tier) {
    return post("{\"tenantId\":\"" + id + "\",\"tier\":\"" + tier + "\"}");
  }

  Answer get(String id) {
    return send(HttpApiEvents.of("GET /tenants/{tenantId}", Map.of("tenantId", id)));
  }

  public Answer patch(String id, String body) {
    return send(HttpApiEvents.of("PATCH /tenants/{tenantId}", Map.of("tenantId", id), body));
  }

  public Answer delete(String id) {
    return send(HttpApiEvents.of("DELETE /tenants/{tenantId}", Map.of("tenantId", id)));
  }

  Answer clearLine(String id) {
    return send(HttpApiEvents.of("DELETE /tenants/{tenantId}/line", Map.of("tenantId", id)));
  }

  Answer list(Map<String, String> query) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /tenants");
    event.setQueryStringParameters(new HashMap<>(query));
    return send(event);
  }

  Answer activity(String tenantIds) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /activity");
    event.setQueryStringParameters(new HashMap<>(Map.of("tenantIds", tenantIds)));
    return send(event);
  }

  /** A request for what happened to a tenant or to all. */
  Answer history(String path, Map<String, String> query) {
    String[] parts = path.split("/", -1);
    APIGatewayV2HTTPEvent event =
        parts[1].equals("tenants")
            ? HttpApiEvents.of("GET /tenants/{tenantId}/history", Map.of("tenantId", parts[2]))
            : HttpApiEvents.of("GET " + path);
    event.setQueryStringParameters(new HashMap<>(query));
    return send(event);
  }

  Answer audit(Map<String, String> query) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /audit");
    event.setQueryStringParameters(new HashMap<>(query));
    return send(event);
  }

  Answer putTier(String name, String body) {
    return send(HttpApiEvents.of("PUT /tiers/{tier}", Map.of("tier", name), body));
  }

  Answer getTier(String name) {
    return send(HttpApiEvents.of("GET /tiers/{tier}", Map.of("tier", name)));
  }

  Answer deleteTier(String name) {
    return send(HttpApiEvents.of("DELETE /tiers/{tier}", Map.of("tier", name)));
  }

  public Map<String, Long> sweep() {
    return sweep.handleRequest(Map.of("scheduledTime", clock.instant().toString()), context);
  }

  /** Delivers the event of a window's schedule. */
  void fire(Subject owner) {
    sweep.handleRequest(Map.of("windowsOf", owner.value()), context);
  }

  /** A request to schedule limits, or to cancel them, of `tiers/gold` or `tenants/acme`. */
  Answer schedules(String method, String owner, String id, String body, boolean dryRun) {
    String[] parts = owner.split("/", -1);
    String variable = parts[0].equals("tiers") ? "tier" : "tenantId";
    String route = method + " /" + parts[0] + "/{" + variable + "}/schedules";
    APIGatewayV2HTTPEvent event =
        method.equals("POST")
            ? HttpApiEvents.of(route, Map.of(variable, parts[1]), body)
            : HttpApiEvents.of(route + "/{schedule}", Map.of(variable, parts[1], "schedule", id));
    if (dryRun) {
      event.setQueryStringParameters(new HashMap<>(Map.of("dryRun", "true")));
    }
    return send(event);
  }

  /** Delivers a requested chunk. */
  Map<String, Long> work(Chunk chunk) {
    return sweep.handleRequest(new HashMap<>(chunk.toEvent()), context);
  }

  /** Moves the clock by some minutes, with a sweep and messages in each. */
  public void sweep(int minutes) {
    for (int i = 0; i < minutes; i++) {
      clock.advance(Duration.ofSeconds(30));
      messages.process();
      messages.send();
      clock.advance(Duration.ofSeconds(31));
      messages.process();
      sweep();
    }
  }

  /** Fills a bucket, as its schedule does. */
  BucketFill.FillResult fill(BucketId id) {
    return new BucketFill(buckets, tokens, clock).fill(id);
  }

  /** The maintenance of buckets, as the token producer runs it. */
  BucketMaintenance maintenance() {
    return new BucketMaintenance(
        buckets, tokens, queues, schedules, new ReconcileRequests(tenants), clock);
  }

  static BucketId bucket(String tenant, String action) {
    return new BucketId(new TenantId(tenant), new Action(action));
  }

  public Optional<Tenant> tenant(String id) {
    return tenants.find(new TenantId(id));
  }

  /** The rows and resources of all tenants, without ledgers and tokens. */
  record Snapshot(
      List<Tenant> tenants,
      List<Tier> tiers,
      Map<BucketId, BucketSpec> rows,
      Map<BucketId, Scheduled> schedules,
      Set<BucketId> queues) {}

  private static final Set<String> NAMES = Set.of("acme", "beta", "gamma");
  private static final Set<String> ACTIONS = Set.of("connect", "message", "send-email");

  Snapshot snapshot() {
    Map<BucketId, BucketSpec> rows = new HashMap<>();
    Set<BucketId> existing = new HashSet<>();
    for (String name : NAMES) {
      for (Bucket row : buckets.list(new TenantId(name)).buckets()) {
        rows.put(row.id(), row.spec());
      }
      for (String action : ACTIONS) {
        if (tokens.has(bucket(name, action))) {
          existing.add(bucket(name, action));
        }
      }
    }
    return new Snapshot(
        tenants.list(Optional.empty(), 100).items(),
        tiers.list().items(),
        rows,
        schedules.schedules(),
        existing);
  }

  /** Asserts that exactly the resources exist that the tenants need. */
  void assertConsistent() {
    Snapshot now = snapshot();
    Map<BucketId, BucketSpec> rows = new HashMap<>();
    Map<BucketId, Scheduled> scheduled = new HashMap<>();
    for (Tenant tenant : now.tenants()) {
      assertThat(tenant.isSettled()).as("%s is settled", tenant).isTrue();
      Tier tier = tiers.find(tenant.tier()).orElseThrow();
      assertThat(
              tenant
                  .changed(tier, tenant.overrides(), tenant.status())
                  .hasSameDesiredStateAs(tenant))
          .as("%s follows %s", tenant, tier)
          .isTrue();
      FillState.State state =
          tenant.status() == TenantStatus.ACTIVE
              ? FillState.State.PRODUCED
              : FillState.State.SUSPENDED;
      tenant
          .buckets()
          .forEach(
              (action, spec) -> {
                BucketId id = new BucketId(tenant.id(), action);
                rows.put(id, spec);
                if (spec.fillPolicy().mode() != FillMode.SHARED) {
                  scheduled.put(id, new Scheduled(spec, state));
                }
                if (spec.fillPolicy().mode() != FillMode.PRODUCER) {
                  assertThat(schedules.shards()).contains(Shard.of(tenant.id()));
                }
              });
    }
    assertThat(now.tiers()).allMatch(TierRollOut::isRolledOut);
    assertThat(now.rows()).isEqualTo(rows);
    assertThat(now.schedules()).isEqualTo(scheduled);
    assertThat(now.queues()).isEqualTo(rows.keySet());
    assertSilosAreConsistent(now.tenants());
  }

  private void assertSilosAreConsistent(List<Tenant> settled) {
    Set<TenantId> isolated =
        settled.stream()
            .filter(tenant -> tenant.isolation() == Isolation.SILO)
            .map(Tenant::id)
            .collect(Collectors.toSet());
    assertThat(silos.all().keySet()).isEqualTo(isolated);
    assertThat(silos.all().values()).allMatch(silo -> silo.state() == Silo.State.OPEN);
    assertThat(siloQueues.tenants()).isEqualTo(isolated);
    assertThat(siloQueues.open()).isEqualTo(isolated);
    assertThat(siloFunctions.functions().keySet()).isEqualTo(isolated);
    assertThat(siloFunctions.attached()).isEqualTo(isolated);
    assertThat(siloFunctions.functions().values()).allMatch(release::equals);
  }
}

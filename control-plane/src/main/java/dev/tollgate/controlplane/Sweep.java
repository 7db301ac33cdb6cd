package dev.tollgate.controlplane;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.controlplane.conditions.ConditionWatch;
import dev.tollgate.controlplane.doctor.TokenWatch;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.LogText;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.Fanout;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The function that a schedule invokes every minute: opens and closes the windows of scheduled
 * limits that are due, reconciles unsettled tenants, continues the roll-outs of tiers and of the
 * release, stores the conditions of tenants, and checks that they have no more connections than
 * tokens. If there is much to do, it hands chunks of tenants to further invocations of itself.
 */
public final class Sweep implements RequestHandler<Map<String, Object>, Map<String, Long>> {
  /** The part of the invocation's time in which no work starts, because a step may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(12);

  /** The unsettled tenants that one invocation reconciles. */
  private static final int CHUNK = 500;

  /** The most chunks of unsettled tenants at a time; the last contains all the others. */
  private static final int MAX_CHUNKS = 16;

  private static final String PENDING = "pending";

  /** The member of the event of a schedule that opens or closes a window: the owner. */
  private static final String WINDOWS_OF = "windowsOf";

  /** The tenants with due windows that one sweep works on; the next sweep does the rest. */
  private static final int MAX_DUE = 500;

  /** The authors of changes that no request makes. */
  private static final String SWEEP = "tollgate:sweep";

  private static final String SCHEDULE = "tollgate:schedule";
  private static final String ROLL_OUT = "tollgate:roll-out";
  private static final String RETREAT = "tollgate:retreat";
  private static final String RELEASE = "tollgate:release";

  private final ControlPlane controlPlane;
  private final ConditionWatch conditions;
  private final TokenWatch tokens;
  private final Function<String, SelfInvocation<Chunk>> requests;

  /** The function as Lambda creates it. */
  public Sweep() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public Sweep(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private Sweep(Wiring wiring) {
    this(wiring, wiring.controlPlane());
  }

  private Sweep(Wiring wiring, ControlPlane controlPlane) {
    this(
        controlPlane,
        wiring.conditionWatch(controlPlane),
        wiring.tokenWatch(controlPlane),
        wiring::selfInvocation);
  }

  /**
   * The function over a control plane.
   *
   * @param conditions stores the conditions of tenants
   * @param tokens finds tenants with more connections than tokens
   * @param requests the requests to the function with an ARN
   */
  Sweep(
      ControlPlane controlPlane,
      ConditionWatch conditions,
      TokenWatch tokens,
      Function<String, SelfInvocation<Chunk>> requests) {
    this.controlPlane = controlPlane;
    this.conditions = conditions;
    this.tokens = tokens;
    this.requests = requests;
  }

  /**
   * Runs one sweep, or works on a chunk of tenants that a sweep handed out, or opens and closes the
   * windows of one tier or tenant. A part of a sweep that fails does not stop the others.
   *
   * @param event a chunk, or the event of a window's schedule; anything else is ignored
   * @return the numbers of unsettled tenants and changed tiers, how many of them are finished now,
   *     the number of chunks that others work on, and the number of silos that are not known to be
   *     at the current release
   */
  @Override
  public Map<String, Long> handleRequest(Map<String, Object> event, Context context) {
    Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    Invocation invocation =
        Invocation.of(
            controlPlane.clock(),
            time,
            line -> context.getLogger().log(LogText.lines(line) + "\n"));
    SelfInvocation<Chunk> others = requests.apply(context.getInvokedFunctionArn());
    Function<String, Author> author = who -> Author.of(who, context.getAwsRequestId());
    Object windowsOf = event.get(WINDOWS_OF);
    if (windowsOf != null) {
      controlPlane.author().set(author.apply(SCHEDULE));
      moveWindows(new Subject(windowsOf.toString()), invocation);
      return Map.of();
    }
    return Chunk.of(event)
        .map(chunk -> work(chunk, others, author, invocation))
        .orElseGet(() -> sweep(others, author, invocation));
  }

  private Map<String, Long> work(
      Chunk chunk,
      SelfInvocation<Chunk> others,
      Function<String, Author> author,
      Invocation invocation) {
    boolean pending = chunk.task().equals(PENDING);
    controlPlane.author().set(author.apply(pending ? SWEEP : ROLL_OUT));
    if (pending) {
      Map<String, Long> reconciled =
          reconcile(
              fanout(others).ids(chunk, controlPlane.ports().tenants()::listPending), invocation);
      measure(reconciled, invocation);
      return reconciled;
    }
    controlPlane.tierRollOut().work(chunk, invocation);
    return Map.of();
  }

  private Map<String, Long> sweep(
      SelfInvocation<Chunk> others, Function<String, Author> author, Invocation invocation) {
    Instant began = controlPlane.clock().instant();
    Map<String, Long> swept = new TreeMap<>();
    List<RuntimeException> failures = new ArrayList<>();
    List<Tier> tiers = new ArrayList<>();
    List<ConditionWatch.RecentMinutes> recent = new ArrayList<>();
    List<Runnable> parts =
        List.of(
            () -> {
              controlPlane.author().set(author.apply(SCHEDULE));
              swept.put("movedWindows", moveWindowsOfTenants(invocation.part(2)));
            },
            () -> {
              controlPlane.author().set(author.apply(SWEEP));
              swept.putAll(sweepTenants(others, invocation.part(2)));
            },
            () -> {
              tiers.addAll(tiers(invocation));
              controlPlane.author().set(author.apply(SCHEDULE));
              tiers.replaceAll(tier -> withWindowsMoved(tier, invocation.part(2)));
              controlPlane.author().set(author.apply(ROLL_OUT));
              swept.putAll(rollOut(tiers, others, invocation.part(2)));
            },
            () -> {
              controlPlane.author().set(author.apply(SWEEP));
              recent.add(conditions.recentMinutes(controlPlane.clock().instant()));
              swept.put("changedConditions", conditions.update(recent.get(0), invocation.part(3)));
            },
            () -> {
              for (ConditionWatch.RecentMinutes read : recent) {
                swept.put(
                    "overAdmittedTenants",
                    tokens.check(read.tenants().keySet(), began, invocation.part(3)));
              }
            },
            () -> {
              controlPlane.author().set(author.apply(RETREAT));
              for (ConditionWatch.RecentMinutes read : recent) {
                swept.put("retreatedTiers", conditions.retreat(tiers, read, invocation.part(2)));
              }
            },
            () -> {
              controlPlane.author().set(author.apply(RELEASE));
              swept.put("outdatedSilos", controlPlane.releaseRollOut().resume(invocation));
            });
    for (Runnable part : parts) {
      try {
        part.run();
      } catch (RuntimeException failure) {
        failures.add(failure);
      }
    }
    measure(swept, invocation);
    if (swept.values().stream().anyMatch(number -> number > 0)) {
      invocation.log("swept: " + swept);
    }
    failures.stream()
        .reduce(
            (first, next) -> {
              first.addSuppressed(next);
              return first;
            })
        .ifPresent(
            failure -> {
              throw failure;
            });
    return swept;
  }

  /** Writes a metric line if something is left for the next sweep. */
  private static void measure(Map<String, Long> done, Invocation invocation) {
    long left =
        done.getOrDefault("unsettledTenants", 0L)
            - done.getOrDefault("settledTenants", 0L)
            + done.getOrDefault("changedTiers", 0L)
            - done.getOrDefault("rolledOutTiers", 0L)
            + done.getOrDefault("outdatedSilos", 0L);
    if (left > 0) {
      invocation.log(MetricLine.sweepBacklog(invocation.clock().instant(), left));
    }
  }

  private void moveWindows(Subject owner, Invocation invocation) {
    owner.tenant().ifPresent(id -> controlPlane.lifecycle().moveWindows(id, invocation));
    owner.tier().ifPresent(name -> controlPlane.catalog().moveWindows(name, invocation));
  }

  private long moveWindowsOfTenants(Invocation invocation) {
    List<TenantId> due =
        controlPlane.ports().tenants().listDue(controlPlane.clock().instant(), MAX_DUE);
    return controlPlane
        .parallel()
        .count(
            due,
            id -> {
              controlPlane.lifecycle().moveWindows(id, invocation);
              return true;
            },
            invocation);
  }

  /** The tier after its due windows were opened and closed; as it was if that failed. */
  private Tier withWindowsMoved(Tier tier, Invocation invocation) {
    if (!tier.schedules().isDue(controlPlane.clock().instant())) {
      return tier;
    }
    try {
      return controlPlane.catalog().moveWindows(tier.name(), invocation).orElse(tier);
    } catch (Unavailable unavailable) {
      invocation.log("windows of tier " + tier.name() + ": " + unavailable.reason());
      return tier;
    }
  }

  private Fanout fanout(SelfInvocation<Chunk> others) {
    return new Fanout(others, CHUNK, controlPlane.workers(), controlPlane.clock());
  }

  private Map<String, Long> sweepTenants(SelfInvocation<Chunk> others, Invocation invocation) {
    int[] read = {0};
    Fanout.Ids pending =
        (after, max) ->
            read[0]++ < MAX_CHUNKS
                ? controlPlane.ports().tenants().listPending(after, max)
                : List.of();
    Fanout.Split split = fanout(others).split(PENDING, pending, invocation.end());
    split.failures().forEach(invocation::log);
    Map<String, Long> reconciled = new TreeMap<>(reconcile(split.first(), invocation));
    reconciled.put("requestedChunks", (long) split.chunks() - 1);
    return reconciled;
  }

  private Map<String, Long> reconcile(List<TenantId> unsettled, Invocation invocation) {
    List<TenantId> shuffled = new ArrayList<>(unsettled);
    // In random order, so that tenants that fail at every attempt do not delay the others.
    Collections.shuffle(shuffled);
    long settled =
        controlPlane.parallel().count(shuffled, id -> isSettled(id, invocation), invocation);
    return Map.of("unsettledTenants", (long) shuffled.size(), "settledTenants", settled);
  }

  private List<Tier> tiers(Invocation invocation) {
    Page<Tier> tiers = controlPlane.ports().tiers().list();
    tiers.unreadable().forEach(row -> invocation.log(row.reason()));
    return tiers.items();
  }

  private Map<String, Long> rollOut(
      List<Tier> tiers, SelfInvocation<Chunk> others, Invocation invocation) {
    List<Tier> changed =
        new ArrayList<>(tiers.stream().filter(tier -> !TierRollOut.isRolledOut(tier)).toList());
    Collections.shuffle(changed);
    long rolledOut = 0;
    for (int i = 0; i < changed.size(); i++) {
      Invocation part = invocation.part(changed.size() - i);
      rolledOut += controlPlane.tierRollOut().resume(changed.get(i), others, part) ? 1 : 0;
    }
    return Map.of("changedTiers", (long) changed.size(), "rolledOutTiers", rolledOut);
  }

  private boolean isSettled(TenantId id, Invocation invocation) {
    Optional<Tenant> tenant = controlPlane.ports().tenants().find(id);
    return tenant.isEmpty()
        || tenant.get().isSettled()
        || controlPlane.reconciler().reconcile(tenant.get(), Optional.empty(), invocation)
            instanceof ReconcileOutcome.Settled;
  }
}

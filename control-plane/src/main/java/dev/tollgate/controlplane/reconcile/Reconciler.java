package dev.tollgate.controlplane.reconcile;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.controlplane.silo.SiloSteps;
import dev.tollgate.core.Action;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketSchedules;
import dev.tollgate.core.provisioning.BucketQueues.Owner;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Brings about what is desired of a tenant, from whatever is there. Every step may be repeated, so
 * a run that died, failed in part, or raced with another is finished by the next.
 *
 * <p>A bucket's ledger row is written before its queue and its schedule are made, and removed after
 * they are: so a queue or a schedule without a row cannot be left behind, and the rows tell what
 * there is to remove.
 *
 * <p>A tenant's count of connections is opened before all else, so that refusals are added up from
 * the first on, and forgotten when all that adds to it is gone.
 *
 * <p>A tenant whose tier says so also gets a silo; {@link SiloSteps} tells how.
 *
 * <p>Two runs for one tenant may be about different versions of it. The slower one may undo what
 * the faster did; therefore each looks, when it is done, whether its version still stands, and if
 * not, begins again with the one that does.
 */
public final class Reconciler {
  /** How long a new queue may not be usable (SQS CreateQueue). */
  private static final Duration QUEUE_DELAY = Duration.ofSeconds(1);

  private static final int MOST_ATTEMPTS = 10;

  /**
   * A bucket of more tokens gets its first ones when its schedule fires, within a minute: no
   * request waits for them. That many are 2,000 requests to SQS, ten tokens each.
   */
  private static final long MOST_FILLED_AT_ONCE = 20_000;

  private final Ports ports;
  private final BucketFill fill;
  private final SessionLifecycle sessions;
  private final SiloSteps silos;
  private final Pause pause;
  private final InstantSource clock;
  private final BucketSchedules schedules;

  public Reconciler(
      Ports ports,
      BucketFill fill,
      SessionLifecycle sessions,
      SiloSteps silos,
      Pause pause,
      InstantSource clock) {
    this.ports = ports;
    this.fill = fill;
    this.sessions = sessions;
    this.silos = silos;
    this.pause = pause;
    this.clock = clock;
    this.schedules = new BucketSchedules(ports.buckets(), ports.schedules());
  }

  /**
   * Brings a tenant about.
   *
   * @param desired what is desired of it
   * @param before what was desired before; if that had been brought about, what is desired to be
   *     the same now is left alone
   */
  public ReconcileOutcome reconcile(
      Tenant desired, Optional<Tenant> before, Invocation invocation) {
    ReconcileOutcome outcome = bringAbout(desired, before, invocation);
    if (outcome instanceof ReconcileOutcome.Pending pending) {
      invocation.log("tenant " + desired.id() + ": pending: " + pending.reasons());
    }
    return outcome;
  }

  private ReconcileOutcome bringAbout(
      Tenant desired, Optional<Tenant> before, Invocation invocation) {
    Tenant target = desired;
    Optional<Tenant> settled = before.filter(Tenant::isSettled);
    while (true) {
      Steps steps = new Steps(invocation);
      if (target.status() == TenantStatus.OFFBOARDING) {
        remove(target, steps);
      } else {
        provide(target, settled, steps);
      }
      Optional<Tenant> next = Optional.empty();
      try {
        next = overtaking(target);
      } catch (Unavailable unavailable) {
        steps.postpone("tenant " + target.id() + ": " + unavailable.reason());
      } catch (UnreadableRow unreadable) {
        steps.postpone("tenant " + target.id() + ": " + unreadable.reason());
      }
      if (next.isEmpty()) {
        return steps.outcome();
      }
      target = next.get();
      settled = Optional.empty();
    }
  }

  /**
   * What is to be brought about now instead of {@code done}, if anything. If another run has
   * finished with it already, it may just have been undone: so it is opened again, lest nobody
   * knows should this run not come to its end.
   */
  private Optional<Tenant> overtaking(Tenant done) {
    Optional<Tenant> found = ports.tenants().find(done.id());
    if (found.isEmpty()) {
      boolean removed = done.status() == TenantStatus.OFFBOARDING;
      return removed ? Optional.empty() : Optional.of(done.offboarding());
    }
    Tenant stands = found.get();
    if (stands.version() == done.version() && stands.hasSameDesiredStateAs(done)) {
      return Optional.empty();
    }
    if (!stands.isSettled()) {
      return found;
    }
    Tenant reopened = stands.withNextVersion();
    return ports.tenants().replace(reopened) == WriteResult.DONE
        ? Optional.of(reopened)
        : overtaking(done);
  }

  private void provide(Tenant tenant, Optional<Tenant> settled, Steps steps) {
    if (settled.isEmpty()) {
      steps.done(
          "connections of " + tenant.id(), () -> ports.connections().createCount(tenant.id()));
    }
    steps
        .attempt("buckets of " + tenant.id(), () -> ports.buckets().list(tenant.id()))
        .ifPresent(rows -> provide(tenant, settled, rows, steps));
    boolean stopped = settled.filter(before -> before.status() == tenant.status()).isPresent();
    if (tenant.status() == TenantStatus.SUSPENDED && !stopped) {
      endSessions(tenant.id(), steps);
    }
    if (steps.allDone()) {
      steps.done(
          "tenant " + tenant.id(),
          () -> ports.tenants().markObserved(tenant.id(), tenant.version()));
    }
  }

  private void provide(Tenant tenant, Optional<Tenant> settled, BucketRows all, Steps steps) {
    List<Bucket> rows = all.buckets();
    boolean active = tenant.status() == TenantStatus.ACTIVE;
    Map<Action, Bucket> byAction =
        rows.stream().collect(Collectors.toMap(row -> row.id().action(), Function.identity()));
    List<Opened> opened = new ArrayList<>();
    tenant
        .buckets()
        .forEach(
            (action, spec) -> {
              if (!isSame(action, tenant, settled)) {
                BucketId id = new BucketId(tenant.id(), action);
                Optional<UnreadableRow> unreadable =
                    Optional.ofNullable(all.unreadable().get(action));
                Optional<Bucket> row = Optional.ofNullable(byAction.get(action));
                steps
                    .attempt(
                        "bucket " + id,
                        () -> {
                          if (unreadable.isPresent()) {
                            clear(id, unreadable.get(), steps);
                          } else if (row.isEmpty()) {
                            requireNoQueueOfSomebodyElse(id);
                          }
                          Bucket fresh =
                              unreadable.isPresent()
                                  ? Bucket.recreated(id, spec, clock.instant())
                                  : Bucket.opened(id, spec, clock.instant());
                          return open(fresh, active, row);
                        })
                    .ifPresent(opened::add);
              }
            });
    boolean isolated = settled.filter(was -> was.isolation() == tenant.isolation()).isPresent();
    Optional<QueueCreation> silo =
        tenant.isolation() == Isolation.SILO && !isolated
            ? steps.attempt("silo of " + tenant.id(), () -> silos.open(tenant.id()))
            : Optional.empty();
    if (Stream.concat(opened.stream().map(Opened::made), silo.stream())
        .anyMatch(made -> made == QueueCreation.CREATED)) {
      pause.of(QUEUE_DELAY);
    }
    opened.forEach(bucket -> start(bucket, steps));
    silo.ifPresent(made -> silos.start(tenant.id(), made, steps));
    if (tenant.isolation() == Isolation.POOL && !isolated) {
      silos.close(tenant.id(), steps);
    }
    actionsOf(all).stream()
        .filter(action -> !tenant.buckets().containsKey(action))
        .forEach(
            action -> {
              if (all.unreadable().get(action) instanceof NewerRow newer) {
                steps.postpone(newer.reason());
              } else {
                remove(new BucketId(tenant.id(), action), steps);
              }
            });
    removeStrays(tenant.id(), all, steps);
  }

  /**
   * Makes room for a bucket's row that is made anew, and is owed nothing. A newer release can read
   * its row: that stays.
   */
  private void clear(BucketId id, UnreadableRow row, Steps steps) {
    if (row instanceof NewerRow) {
      throw row;
    }
    steps.tell(row.reason() + "; it is made anew");
    ports.buckets().remove(id);
  }

  /**
   * A queue without this deployment's tag is taken for a bucket's that a release made which did not
   * tag queues, but only if the bucket has been written down.
   */
  private void requireNoQueueOfSomebodyElse(BucketId id) {
    if (ports.queues().owner(id) == Owner.OTHER) {
      throw new Unavailable(
          "there is a queue of that name without this deployment's tag; if nobody needs it, delete"
              + " it by hand");
    }
  }

  private void removeStrays(TenantId id, BucketRows rows, Steps steps) {
    rows.strays()
        .forEach(
            name ->
                steps.done("a stray row of " + id, () -> ports.buckets().removeStray(id, name)));
  }

  /** Whether a bucket was brought about already as it is desired to be. */
  private static boolean isSame(Action action, Tenant tenant, Optional<Tenant> settled) {
    return settled.isPresent()
        && settled.get().status() == tenant.status()
        && Optional.ofNullable(settled.get().buckets().get(action))
            .equals(Optional.ofNullable(tenant.buckets().get(action)));
  }

  /**
   * A bucket with its row and its queue, but for one that must wait.
   *
   * @param begins whether nobody has filled it until now
   */
  private record Opened(Bucket row, QueueCreation made, boolean begins) {}

  private Opened open(Bucket fresh, boolean active, Optional<Bucket> found) {
    Bucket row = row(fresh, active, found);
    boolean begins =
        isActive(row) && (row.version() == 0 || !found.map(Reconciler::isActive).orElse(true));
    return new Opened(
        row, ports.queues().ensure(row.id(), row.tokenLifetimeAt(clock.instant())), begins);
  }

  /**
   * Writes the fresh bucket's row, or brings the one that is there to its rate and capacity, and to
   * being filled or not.
   */
  private Bucket row(Bucket fresh, boolean active, Optional<Bucket> found) {
    BucketSpec spec = fresh.spec();
    Buckets buckets = ports.buckets();
    Optional<Bucket> row = found;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (row.isPresent() && row.get().spec().equals(spec) && isActive(row.get()) == active) {
        return row.get();
      }
      Instant now = clock.instant();
      Bucket stands = row.orElse(fresh);
      Bucket next =
          !active
              ? stands.suspended(spec, now)
              : row.isPresent() ? stands.retuned(spec, now) : stands;
      WriteResult written = row.isPresent() ? buckets.replace(next) : buckets.open(next);
      if (written == WriteResult.DONE) {
        return next;
      }
      row = buckets.find(fresh.id());
    }
    throw new Unavailable("overtaken " + MOST_ATTEMPTS + " times");
  }

  private static boolean isActive(Bucket row) {
    return row.fillState().state() != FillState.State.SUSPENDED;
  }

  /**
   * Has the bucket filled from now on, and a new one at once if it is not too large. That comes
   * last: it may take long, and what it leaves undone the schedule does.
   */
  private void start(Opened bucket, Steps steps) {
    Bucket row = bucket.row();
    BucketId id = row.id();
    if (bucket.made() == QueueCreation.RECENTLY_DELETED) {
      steps.postpone("queue " + id + ": one of this name was deleted less than a minute ago");
      return;
    }
    boolean scheduled = steps.done("schedule " + id, () -> schedule(row));
    if (scheduled && bucket.begins() && row.spec().capacity() <= MOST_FILLED_AT_ONCE) {
      steps.attempt("fill " + id, () -> fill.fill(id));
    }
  }

  private void schedule(Bucket row) {
    if (row.spec().fillPolicy().mode() != FillMode.PRODUCER) {
      ports.schedules().put(Shard.of(row.id().tenant()));
    }
    if (row.version() == 0) {
      ports.schedules().put(row);
    } else {
      schedules.follow(row.id(), Optional.of(row));
    }
  }

  private void remove(Tenant tenant, Steps steps) {
    TenantId id = tenant.id();
    steps
        .attempt("buckets of " + id, () -> ports.buckets().list(id))
        .ifPresent(
            rows -> {
              bucketsOf(tenant, rows).forEach(bucket -> remove(bucket, steps));
              removeStrays(id, rows, steps);
            });
    silos.remove(tenant, steps);
    endSessions(id, steps).forEach(session -> forget(session, steps));
    if (steps.allDone()
        && steps.done("connections of " + id, () -> ports.connections().deleteCount(id))
        && steps.done("subjects of " + id, () -> ports.sessions().deleteSubjects(id))
        && steps.done("turns of " + id, () -> ports.sessions().deleteCreationRate(id))) {
      steps.attempt("tenant " + id, () -> ports.tenants().remove(id, tenant.version()));
    }
  }

  /**
   * Ends the sessions of a tenant, those with sockets first; returns those whose rows stay for a
   * while.
   */
  private List<Session> endSessions(TenantId id, Steps steps) {
    return steps.attempt("sessions of " + id, () -> ports.sessions().list(id)).stream()
        .flatMap(List::stream)
        .sorted(Comparator.comparing(session -> session.connections().isEmpty()))
        .flatMap(
            session ->
                steps.attempt("a session of " + id, () -> sessions.end(id, session.id())).stream())
        .flatMap(
            ending ->
                ending instanceof SessionLifecycle.EndedButKept over
                    ? Stream.of(over.session())
                    : Stream.empty())
        .toList();
  }

  private void forget(Session session, Steps steps) {
    String what = "a session of " + session.tenant();
    steps
        .attempt(what, () -> ports.sessions().remove(session.tenant(), session.id()))
        .filter(WriteResult.CONFLICT::equals)
        .ifPresent(stays -> steps.postpone(what + ": one of its sockets may be about to open"));
  }

  private static SortedSet<Action> actionsOf(BucketRows rows) {
    SortedSet<Action> actions = new TreeSet<>(rows.unreadable().keySet());
    rows.buckets().forEach(row -> actions.add(row.id().action()));
    return actions;
  }

  private static List<BucketId> bucketsOf(Tenant tenant, BucketRows rows) {
    SortedSet<Action> actions = actionsOf(rows);
    actions.addAll(tenant.buckets().keySet());
    return actions.stream().map(action -> new BucketId(tenant.id(), action)).toList();
  }

  /** A queue that somebody else made stays; the doctor tells of it from then on. */
  private void remove(BucketId id, Steps steps) {
    steps.done(
        "bucket " + id,
        () -> {
          ports.schedules().delete(id);
          if (ports.queues().owner(id) == Owner.OTHER) {
            steps.tell("queue " + id + " stays: it lacks this deployment's tag");
          } else {
            ports.queues().delete(id);
          }
          ports.buckets().remove(id);
        });
  }
}

package dev.tollgate.controlplane.reconcile;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.controlplane.silo.SiloSteps;
import dev.tollgate.core.Action;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.Page;
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
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketFill.FillResult;
import dev.tollgate.core.bucket.fill.BucketFill.Skipped;
import dev.tollgate.core.bucket.fill.BucketSchedules;
import dev.tollgate.core.provisioning.BucketQueues.Owner;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.SessionPages;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Brings a tenant to its desired state, from any current state. Every step can be repeated, so the
 * next run finishes a run that crashed, failed in part, or raced with another.
 *
 * <p>A bucket's row is written before its queue and its schedule are created, and removed after
 * they are removed. So every queue and schedule has a row, and the rows list what to remove.
 *
 * <p>A tenant's connection count is created before everything that adds to it, and removed after
 * it.
 *
 * <p>A tenant of a tier with isolation {@code SILO} also gets a silo; see {@link SiloSteps}.
 *
 * <p>Two concurrent runs may work on different versions of one tenant, and the slower run may undo
 * the work of the faster one. Therefore each run reads the tenant again when it is done. If the
 * version has changed, the run starts over with the current version.
 */
public final class Reconciler {
  /** The time in which SQS may not know a new queue (SQS CreateQueue). */
  private static final Duration QUEUE_DELAY = Duration.ofSeconds(1);

  private static final int MAX_ATTEMPTS = 10;

  /**
   * The largest capacity that is filled during onboarding: 2,000 requests to SQS with ten tokens
   * each. A larger bucket gets its first tokens when its schedule fires, within a minute; if a
   * calendar fills it, when the first claim requests a fill.
   */
  private static final long MAX_INITIAL_FILL = 20_000;

  /**
   * The tokens that SQS accepts from one fill in a second: eight requests at a time with ten tokens
   * each, of 40 ms. Estimated, see docs/scale.md; at half this speed, a step that starts in time
   * still ends within the margin of a request.
   */
  private static final long TOKENS_A_SECOND = 2_000;

  private final Ports ports;
  private final BucketFill fill;
  private final SessionLifecycle sessions;
  private final SiloSteps silos;
  private final Pause pause;
  private final InstantSource clock;
  private final BucketSchedules schedules;

  /** A reconciler over these ports. */
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
   * Reconciles a tenant.
   *
   * @param desired the tenant's desired state
   * @param before the previous desired state. If it was reached, parts that do not differ are
   *     skipped.
   */
  public ReconcileOutcome reconcile(
      Tenant desired, Optional<Tenant> before, Invocation invocation) {
    ReconcileOutcome outcome = run(desired, before, invocation);
    if (outcome instanceof ReconcileOutcome.Pending pending) {
      invocation.log("tenant " + desired.id() + ": pending: " + pending.reasons());
    }
    return outcome;
  }

  private ReconcileOutcome run(Tenant desired, Optional<Tenant> before, Invocation invocation) {
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
        next = changedTarget(target);
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
   * The tenant that this run must reconcile now because its desired state has changed since {@code
   * done}; empty if it has not. If another run has already settled the tenant, this run may have
   * undone its work. The tenant is then reopened, so that the sweep continues if this run crashes.
   */
  private Optional<Tenant> changedTarget(Tenant done) {
    Optional<Tenant> found = ports.tenants().find(done.id());
    if (found.isEmpty()) {
      boolean removed = done.status() == TenantStatus.OFFBOARDING;
      return removed ? Optional.empty() : Optional.of(done.offboarding());
    }
    Tenant current = found.get();
    if (current.version() == done.version() && current.hasSameDesiredStateAs(done)) {
      return Optional.empty();
    }
    if (!current.isSettled()) {
      return found;
    }
    Tenant reopened = current.withNextVersion();
    return ports.tenants().replace(reopened) == WriteResult.DONE
        ? Optional.of(reopened)
        : changedTarget(done);
  }

  private void provide(Tenant tenant, Optional<Tenant> settled, Steps steps) {
    if (settled.isEmpty()) {
      steps.run(
          "connections of " + tenant.id(), () -> ports.connections().createCount(tenant.id()));
    }
    steps
        .attempt("buckets of " + tenant.id(), () -> ports.buckets().list(tenant.id()))
        .ifPresent(rows -> provide(tenant, settled, rows, steps));
    boolean sameStatus = settled.filter(before -> before.status() == tenant.status()).isPresent();
    if (tenant.status() == TenantStatus.SUSPENDED && !sameStatus) {
      endSessions(tenant.id(), steps, kept -> {});
    }
    if (steps.allSucceeded()) {
      steps.run(
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
              Optional<Bucket> row = Optional.ofNullable(byAction.get(action));
              // A roll-out that crashed may have left a row that differs.
              boolean differs =
                  row.filter(found -> !found.spec().equals(spec) || isActive(found) != active)
                      .isPresent();
              if (differs || !isSame(action, tenant, settled)) {
                BucketId id = new BucketId(tenant.id(), action);
                Optional<UnreadableRow> unreadable =
                    Optional.ofNullable(all.unreadable().get(action));
                steps
                    .attempt(
                        "bucket " + id,
                        () -> {
                          if (unreadable.isPresent()) {
                            removeUnreadable(id, unreadable.get(), steps);
                          } else if (row.isEmpty()) {
                            requireNoForeignQueue(id);
                          }
                          Bucket fresh =
                              unreadable.isPresent()
                                  ? Bucket.recreated(id, spec, clock.instant())
                                  : Bucket.opened(id, spec, clock.instant());
                          boolean isFirst = unreadable.isEmpty() && tenant.observedVersion() == 0;
                          return open(isFirst ? fresh.mintingInFull() : fresh, active, row);
                        })
                    .ifPresent(opened::add);
              }
            });
    boolean sameIsolation =
        settled.filter(before -> before.isolation() == tenant.isolation()).isPresent();
    Optional<QueueCreation> silo =
        tenant.isolation() == Isolation.SILO && !sameIsolation
            ? steps.attempt("silo of " + tenant.id(), () -> silos.open(tenant.id()))
            : Optional.empty();
    opened.forEach(bucket -> start(bucket, steps));
    silo.ifPresent(made -> silos.start(tenant.id(), made, steps));
    if (tenant.isolation() == Isolation.POOL && !sameIsolation) {
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
   * Removes an unreadable row, so that the bucket gets a new row without any tokens due. A row of a
   * newer release stays, because that release can read it.
   */
  private void removeUnreadable(BucketId id, UnreadableRow row, Steps steps) {
    if (row instanceof NewerRow) {
      throw row;
    }
    steps.log(row.reason() + "; the bucket gets a new row");
    ports.buckets().remove(id);
  }

  /**
   * Fails if a queue of this name exists that this deployment has not created. A queue without this
   * deployment's tag may come from an older release, which did not tag queues, but only if the
   * bucket has a row.
   */
  private void requireNoForeignQueue(BucketId id) {
    if (ports.queues().owner(id) == Owner.OTHER) {
      throw new Unavailable(
          "a queue of this name exists without this deployment's tag; delete it by hand if it is"
              + " unused");
    }
  }

  private void removeStrays(TenantId id, BucketRows rows, Steps steps) {
    rows.strays()
        .forEach(
            name -> steps.run("a stray row of " + id, () -> ports.buckets().removeStray(id, name)));
  }

  /** Whether the bucket of an action has reached its desired state already. */
  private static boolean isSame(Action action, Tenant tenant, Optional<Tenant> settled) {
    return settled.isPresent()
        && settled.get().status() == tenant.status()
        && Optional.ofNullable(settled.get().buckets().get(action))
            .equals(Optional.ofNullable(tenant.buckets().get(action)));
  }

  /**
   * A bucket whose row is written.
   *
   * @param queueCreation whether its queue exists
   * @param needsFill whether the bucket is active and was not filled before, or it has changed and
   *     the next fill of its calendar is days away
   */
  private record Opened(Bucket row, QueueCreation queueCreation, boolean needsFill) {}

  private Opened open(Bucket fresh, boolean active, Optional<Bucket> found) {
    Bucket row = row(fresh, active, found);
    boolean needsFill =
        isActive(row)
            && (row.version() == 0
                || !found.map(Reconciler::isActive).orElse(true)
                || row.spec().refill() instanceof Calendar
                    && !found.map(Bucket::spec).equals(Optional.of(row.spec())));
    return new Opened(
        row, ports.queues().ensure(row.id(), row.tokenLifetimeAt(clock.instant())), needsFill);
  }

  /**
   * Writes the row of a new bucket, or updates the rate, capacity and status in the existing row.
   */
  private Bucket row(Bucket fresh, boolean active, Optional<Bucket> found) {
    BucketSpec spec = fresh.spec();
    Buckets buckets = ports.buckets();
    Optional<Bucket> row = found;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (row.isPresent() && row.get().spec().equals(spec) && isActive(row.get()) == active) {
        return row.get();
      }
      Instant now = clock.instant();
      Bucket current = row.orElse(fresh);
      if (spec.line() && !current.spec().line()) {
        clearLine(current, now);
      }
      Bucket next =
          !active
              ? current.suspended(spec, now)
              : row.isPresent() ? current.retuned(spec, now) : current;
      WriteResult written = row.isPresent() ? buckets.replace(next) : buckets.open(next);
      if (written == WriteResult.DONE) {
        return next;
      }
      row = buckets.find(fresh.id());
    }
    throw new Unavailable(
        "each of " + MAX_ATTEMPTS + " writes conflicted with a concurrent change");
  }

  /** Makes void the places that callers took before the line was switched off. */
  private void clearLine(Bucket row, Instant now) {
    row.line().ifPresent(line -> ports.buckets().clearLine(row.id(), line, now));
  }

  private static boolean isActive(Bucket row) {
    return row.fillState().state() != FillState.State.SUSPENDED;
  }

  /**
   * Schedules the fills of a bucket, and fills it if it needs that and is not too large. The fill
   * comes last because it may take long. If it fails or has no time left, the schedule fills the
   * bucket. A step of a fill does not stop before its end, so it starts only if the time left
   * suffices for it.
   */
  private void start(Opened bucket, Steps steps) {
    Bucket row = bucket.row();
    BucketId id = row.id();
    if (bucket.queueCreation() == QueueCreation.RECENTLY_DELETED) {
      steps.postpone("queue " + id + ": a queue of this name was deleted less than a minute ago");
      return;
    }
    boolean scheduled = steps.run("schedule " + id, () -> schedule(row));
    if (scheduled && bucket.needsFill() && row.spec().capacity() <= MAX_INITIAL_FILL) {
      Instant now = clock.instant();
      Instant latest = steps.end().minusMillis(row.spec().largestStep() * 1_000 / TOKENS_A_SECOND);
      if (now.isBefore(steps.end()) && !now.isBefore(latest)) {
        steps.log("fill " + id + ": too little time left; the next fill adds the tokens");
      } else {
        steps.attempt("fill " + id, () -> firstFill(id, bucket.queueCreation(), latest));
      }
    }
  }

  /** Fills a bucket. If SQS does not know its new queue yet, waits for it. */
  private FillResult firstFill(BucketId id, QueueCreation creation, Instant until) {
    FillResult result;
    try {
      result = fill.fill(id, until);
    } catch (MissingQueue missing) {
      if (creation != QueueCreation.CREATED) {
        throw missing;
      }
      pause.of(QUEUE_DELAY);
      result = fill.fill(id, until);
    }
    if (result instanceof Skipped skipped) {
      throw new Unavailable(skipped.reason());
    }
    return result;
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
    endSessions(id, steps, session -> removeRow(session, steps));
    if (steps.allSucceeded()
        && steps.run("connections of " + id, () -> ports.connections().deleteCount(id))
        && steps.run("subjects of " + id, () -> ports.sessions().deleteSubjects(id))
        && steps.run(
            "session creation rate of " + id, () -> ports.sessions().deleteCreationRate(id))) {
      steps.attempt("tenant " + id, () -> ports.tenants().remove(id, tenant.version()));
    }
  }

  /**
   * Ends the sessions of a tenant page by page, in each page those with sockets first.
   *
   * @param kept gets the ended sessions whose rows still exist
   */
  private void endSessions(TenantId id, Steps steps, Consumer<Session> kept) {
    Optional<String> cursor = Optional.empty();
    do {
      Optional<String> last = cursor;
      Optional<Page<Session>> page =
          steps.attempt(
              "sessions of " + id,
              () ->
                  ports
                      .sessions()
                      .page(id, last, SessionPages.SIZE, Sessions.Consistency.CONSISTENT));
      page.stream()
          .flatMap(found -> found.unreadable().stream())
          .forEach(row -> steps.postpone(row.reason()));
      page.stream()
          .flatMap(found -> found.items().stream())
          .sorted(Session.CONNECTED_FIRST)
          .forEach(session -> endSession(session, steps, kept));
      cursor = page.flatMap(Page::next);
    } while (cursor.isPresent());
  }

  private void endSession(Session session, Steps steps, Consumer<Session> kept) {
    TenantId id = session.tenant();
    steps
        .attempt("a session of " + id, () -> sessions.end(id, session.id()))
        .ifPresent(
            ending -> {
              if (ending instanceof SessionLifecycle.EndedButKept over) {
                kept.accept(over.session());
              }
            });
  }

  private void removeRow(Session session, Steps steps) {
    String name = "a session of " + session.tenant();
    steps
        .attempt(name, () -> ports.sessions().remove(session.tenant(), session.id()))
        .filter(WriteResult.CONFLICT::equals)
        .ifPresent(conflict -> steps.postpone(name + ": one of its sockets may still open"));
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

  /**
   * Removes a bucket. A queue that this deployment has not created stays; the doctor reports it.
   */
  private void remove(BucketId id, Steps steps) {
    steps.run(
        "bucket " + id,
        () -> {
          ports.schedules().delete(id);
          if (ports.queues().owner(id) == Owner.OTHER) {
            steps.log("queue " + id + " is kept: it lacks this deployment's tag");
          } else {
            ports.queues().delete(id);
          }
          ports.buckets().remove(id);
        });
  }
}

package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.DriftReport.Result;
import dev.tollgate.controlplane.doctor.Position.Stage;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.core.Page;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds and repairs drift: differences between the desired and the actual state, for example
 * because an operator changed or deleted something by hand. The doctor checks the resources page by
 * page: first all tenants, then all existing queues and schedules, and last the account's quotas
 * and the policy of the Credentials table.
 *
 * <p>The system keeps working during a check. Buckets are woken, created and removed, and their
 * fill modes change; the row changes first, then the queue and the schedule. So the doctor checks
 * every finding twice, two seconds apart, and reports only findings of both checks.
 */
public final class Doctor {
  /**
   * The time between two checks: longer than a change of a row and of the resources that depend on
   * it.
   */
  private static final Duration RECHECK_DELAY = Duration.ofSeconds(2);

  private final Ports ports;
  private final TenantLifecycle lifecycle;
  private final Release release;
  private final int connectionQuota;
  private final ParallelTasks parallel;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * A doctor.
   *
   * @param lifecycle repairs tenants
   * @param release the release of silo functions
   * @param connectionQuota how many new WebSocket connections a second the account may open
   * @param parallel runs the checks of a page
   */
  public Doctor(
      Ports ports,
      TenantLifecycle lifecycle,
      Release release,
      int connectionQuota,
      ParallelTasks parallel,
      Pause pause,
      InstantSource clock) {
    this.ports = ports;
    this.lifecycle = lifecycle;
    this.release = release;
    this.connectionQuota = connectionQuota;
    this.parallel = parallel;
    this.pause = pause;
    this.clock = clock;
  }

  /**
   * Checks a page of resources. Only reads.
   *
   * @param limit the most resources to check, 1 to 100
   * @throws Unavailable if a resource cannot be read, or the time runs out
   */
  public DriftReport examine(Position position, int limit, Invocation invocation) {
    Batch batch = batch(position, limit);
    List<Result> results =
        confirmed(batch, invocation).stream()
            .flatMap(checked -> checked.findings().stream())
            .map(finding -> new Result(finding, Optional.empty()))
            .toList();
    return batch.report(results);
  }

  /**
   * Checks a page of resources and repairs the findings. The report lists a finding as not repaired
   * if its repair fails or the time runs out.
   *
   * @param limit the most resources to check, 1 to 100
   * @throws Unavailable as {@link #examine}
   */
  public DriftReport repair(Position position, int limit, Invocation invocation) {
    Batch batch = batch(position, limit);
    List<Result> results =
        parallel
            .map(
                confirmed(batch, invocation),
                checked -> repaired(checked, invocation),
                invocation.unlimited())
            .stream()
            .flatMap(List::stream)
            .toList();
    return batch.report(results);
  }

  /** The findings of one check. */
  private record Checked(Check check, List<Finding> findings) {}

  /** The findings that a second check confirms. */
  private List<Checked> confirmed(Batch batch, Invocation invocation) {
    List<Checked> first = run(batch.checks(), invocation);
    if (first.isEmpty()) {
      return List.of();
    }
    pause.of(RECHECK_DELAY);
    List<Checked> confirmed = new ArrayList<>();
    for (Checked second : run(first.stream().map(Checked::check).toList(), invocation)) {
      List<Finding> both = new ArrayList<>(second.findings());
      first.stream()
          .filter(checked -> checked.check() == second.check())
          .forEach(
              checked ->
                  both.removeIf(
                      finding -> checked.findings().stream().noneMatch(finding::confirms)));
      if (!both.isEmpty()) {
        confirmed.add(new Checked(second.check(), both));
      }
    }
    return confirmed;
  }

  /** Runs checks; returns those with findings. */
  private List<Checked> run(List<Check> checks, Invocation invocation) {
    return parallel.map(checks, check -> new Checked(check, check.findings()), invocation).stream()
        .filter(checked -> !checked.findings().isEmpty())
        .toList();
  }

  private static List<Result> repaired(Checked checked, Invocation invocation) {
    List<ReconcileOutcome> outcomes = outcomes(checked, invocation);
    List<Result> results = new ArrayList<>();
    for (int i = 0; i < checked.findings().size(); i++) {
      results.add(new Result(checked.findings().get(i), Optional.of(outcomes.get(i))));
    }
    return results;
  }

  private static List<ReconcileOutcome> outcomes(Checked checked, Invocation invocation) {
    Steps steps = new Steps(invocation);
    return steps
        .attempt("repair", () -> checked.check().repair(checked.findings(), invocation))
        .orElseGet(() -> checked.findings().stream().map(finding -> steps.outcome()).toList());
  }

  /** The checks of one page. */
  private record Batch(Stage stage, List<Check> checks, long size, Optional<Position> next) {
    private DriftReport report(List<Result> results) {
      return new DriftReport(stage, results, size, next);
    }
  }

  private Batch batch(Position position, int limit) {
    Optional<String> cursor = position.cursor();
    return switch (position.stage()) {
      case TENANTS -> {
        Page<Tenant> page = ports.tenants().list(cursor, limit);
        List<TenantId> ids =
            Stream.concat(
                    page.items().stream().map(Tenant::id),
                    page.unreadable().stream().map(row -> new TenantId(row.name())))
                .toList();
        yield new Batch(
            Stage.TENANTS,
            ids.stream()
                .<Check>mapMulti(
                    (id, checks) -> {
                      checks.accept(new TenantCheck(ports, lifecycle, clock, id));
                      checks.accept(new TokenCheck(ports, clock, id));
                      checks.accept(new WindowSchedulesCheck(ports, clock, Subject.tenant(id)));
                    })
                .toList(),
            ids.size(),
            Position.after(Stage.TENANTS, page.next()));
      }
      case QUEUES -> {
        Page<BucketId> page = ports.queues().list(cursor, limit);
        yield batch(
            Stage.QUEUES,
            page.items().stream()
                .<Check>map(id -> OrphanCheck.ofQueue(ports, lifecycle, id))
                .toList(),
            page.next());
      }
      case SCHEDULES -> {
        Page<BucketId> page = ports.schedules().list(cursor, limit);
        yield batch(
            Stage.SCHEDULES,
            page.items().stream()
                .<Check>map(id -> OrphanCheck.ofSchedule(ports, lifecycle, id))
                .toList(),
            page.next());
      }
      case SHARDS ->
          new Batch(
              Stage.SHARDS,
              Stream.<Check>concat(
                      Stream.of(new ShardSchedulesCheck(ports)),
                      ports.tiers().list().items().stream()
                          .map(Tier::name)
                          .map(Subject::tier)
                          .map(tier -> new WindowSchedulesCheck(ports, clock, tier)))
                  .toList(),
              Shard.COUNT,
              Position.after(Stage.SHARDS, Optional.empty()));
      case QUOTAS ->
          new Batch(
              Stage.QUOTAS,
              Stream.<Check>concat(
                      Stream.of(new QuotaCheck(ports, release, connectionQuota)),
                      ports.credentialsPolicy().stream().map(CredentialsPolicyCheck::new))
                  .toList(),
              QuotaCheck.COUNT,
              Optional.empty());
    };
  }

  private static Batch batch(Stage stage, List<Check> checks, Optional<String> cursor) {
    return new Batch(stage, checks, checks.size(), Position.after(stage, cursor));
  }
}

package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Kind;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.provisioning.Drift;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Whether there is a schedule for each shard that has buckets which it fills or looks at, and none
 * for the others. Which shards have, only all tenants together tell: some hundred thousand can be
 * read in one invocation.
 */
final class ShardSchedulesCheck implements Check {
  private static final int PAGE = 1_000;

  private final Ports ports;

  ShardSchedulesCheck(Ports ports) {
    this.ports = ports;
  }

  /**
   * What tenants have.
   *
   * @param wanted shards that need a schedule
   * @param used those, and those of tenants that are leaving
   */
  private record Shards(Set<Shard> wanted, Set<Shard> used) {}

  private Shards shards() {
    Shards shards = new Shards(new HashSet<>(), new HashSet<>());
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = ports.tenants().list(cursor, PAGE);
      for (Tenant tenant : page.items()) {
        boolean shared =
            tenant.buckets().values().stream()
                .anyMatch(spec -> spec.filling().mode() != FillMode.PRODUCER);
        if (shared) {
          shards.used().add(Shard.of(tenant.id()));
        }
        if (shared && tenant.status() != TenantStatus.OFFBOARDING) {
          shards.wanted().add(Shard.of(tenant.id()));
        }
      }
      cursor = page.next();
    } while (cursor.isPresent());
    return shards;
  }

  @Override
  public List<Finding> findings() {
    Shards shards = shards();
    List<Finding> findings = new ArrayList<>();
    for (Shard shard : Shard.all()) {
      Drift conformity = ports.schedules().compare(shard);
      boolean missing = conformity instanceof Drift.Missing;
      if (!shards.used().contains(shard) && !missing) {
        findings.add(
            Finding.of(
                Kind.ORPHANED, shard, "a schedule of a shard without buckets (expected: none)"));
      }
      if (shards.wanted().contains(shard) && missing) {
        findings.add(
            Finding.of(Kind.MISSING, shard, "no schedule (expected: one, the shard has buckets)"));
      }
      if (shards.wanted().contains(shard) && conformity instanceof Drift.Differs differs) {
        findings.add(Finding.of(Kind.DIFFERS, shard, String.join("; ", differs.differences())));
      }
    }
    return findings;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A shard may be given its first bucket between the look and the deletion of its schedule; so
   * after a deletion it is looked whether it must be there.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    List<ReconcileOutcome> outcomes = new ArrayList<>();
    for (Finding finding : findings) {
      Steps steps = new Steps(invocation);
      steps.done("schedule " + finding.name(), () -> repair(finding));
      outcomes.add(steps.outcome());
    }
    return outcomes;
  }

  /**
   * Repairs one.
   *
   * @throws Unavailable if it cannot be asked; it may be missing then
   */
  private void repair(Finding finding) {
    Shard shard = Shard.named(finding.name());
    boolean orphaned = finding.kind() == Kind.ORPHANED;
    if (orphaned && shards().used().contains(shard)) {
      return;
    }
    if (finding.kind() != Kind.MISSING) {
      ports.schedules().delete(shard);
    }
    if (!orphaned || shards().used().contains(shard)) {
      ports.schedules().put(shard);
    }
  }
}

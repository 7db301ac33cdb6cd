package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Deviation;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.provisioning.Drift;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Checks whether each shard has a schedule if and only if it has buckets that the schedule fills or
 * inspects. The check reads all tenants to find these shards.
 */
final class ShardSchedulesCheck implements Check {
  private final Ports ports;

  ShardSchedulesCheck(Ports ports) {
    this.ports = ports;
  }

  /**
   * The shards of all tenants that have such buckets.
   *
   * @param required the shards that need a schedule
   * @param used the required shards, and those of tenants that are being offboarded
   */
  private record Shards(Set<Shard> required, Set<Shard> used) {}

  private Shards shards() {
    Shards shards = new Shards(new HashSet<>(), new HashSet<>());
    TenantPages.forEach(
        ports.tenants(),
        tenant -> {
          boolean shared =
              tenant.buckets().values().stream()
                  .anyMatch(spec -> spec.fillPolicy().mode() != FillMode.PRODUCER);
          if (shared) {
            shards.used().add(Shard.of(tenant.id()));
          }
          if (shared && tenant.status() != TenantStatus.OFFBOARDING) {
            shards.required().add(Shard.of(tenant.id()));
          }
        });
    return shards;
  }

  @Override
  public List<Finding> findings() {
    Shards shards = shards();
    List<Finding> findings = new ArrayList<>();
    for (Shard shard : Shard.all()) {
      Drift drift = ports.schedules().compare(shard);
      boolean missing = drift instanceof Drift.Missing;
      if (!shards.used().contains(shard) && !missing) {
        findings.add(
            Finding.of(
                Deviation.ORPHANED,
                shard,
                "a schedule for a shard without buckets (expected: none)"));
      }
      if (shards.required().contains(shard) && missing) {
        findings.add(
            Finding.of(
                Deviation.MISSING,
                shard,
                "no schedule (expected: one, because the shard has buckets)"));
      }
      if (shards.required().contains(shard) && drift instanceof Drift.Differs differs) {
        findings.add(
            Finding.of(Deviation.DIFFERS, shard, String.join("; ", differs.differences())));
      }
    }
    return findings;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A shard may get its first bucket between the check and the deletion of its schedule.
   * Therefore the shard is checked again after a deletion, and the schedule created again if
   * needed.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    List<ReconcileOutcome> outcomes = new ArrayList<>();
    for (Finding finding : findings) {
      Steps steps = new Steps(invocation);
      steps.run("schedule " + finding.name(), () -> repair(finding));
      outcomes.add(steps.outcome());
    }
    return outcomes;
  }

  /**
   * Repairs the schedule of one shard.
   *
   * @throws Unavailable if a request fails; the schedule may be missing then
   */
  private void repair(Finding finding) {
    Shard shard = Shard.named(finding.name());
    boolean orphaned = finding.deviation() == Deviation.ORPHANED;
    if (orphaned && shards().used().contains(shard)) {
      return;
    }
    if (finding.deviation() != Deviation.MISSING) {
      ports.schedules().delete(shard);
    }
    if (!orphaned || shards().used().contains(shard)) {
      ports.schedules().put(shard);
    }
  }
}

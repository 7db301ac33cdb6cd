package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Deviation;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether the windows of scheduled limits have the schedules that open and close them on
 * time. Without them the sweep does so, up to a minute later.
 */
final class WindowSchedulesCheck implements Check {
  private final Ports ports;
  private final InstantSource clock;
  private final Subject owner;

  /** The check of a tier's or a tenant's windows. */
  WindowSchedulesCheck(Ports ports, InstantSource clock, Subject owner) {
    this.ports = ports;
    this.clock = clock;
    this.owner = owner;
  }

  private LimitSchedules windows() {
    Optional<LimitSchedules> ofTenant =
        owner
            .tenant()
            .flatMap(ports.tenants()::find)
            .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
            .map(tenant -> tenant.overrides().schedules());
    return ofTenant
        .or(() -> owner.tier().flatMap(ports.tiers()::find).map(Tier::schedules))
        .orElse(LimitSchedules.NONE);
  }

  @Override
  public List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    try {
      for (LimitSchedule window : windows().all()) {
        for (String at : missing(window)) {
          findings.add(
              Finding.ofWindow(
                  Deviation.MISSING,
                  owner,
                  window,
                  "no schedule at "
                      + at
                      + " (expected: one; without it the sweep is up to a"
                      + " minute late)"));
        }
      }
    } catch (UnreadableRow reportedByTenantCheck) {
      return List.of();
    }
    return findings;
  }

  private List<String> missing(LimitSchedule window) {
    return ports
        .windows()
        .map(schedules -> schedules.missing(owner, window, clock.instant()))
        .orElse(List.of());
  }

  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    List<ReconcileOutcome> outcomes = new ArrayList<>();
    for (Finding finding : findings) {
      Steps steps = new Steps(invocation);
      steps.run("schedules " + finding.name(), this::putAll);
      outcomes.add(steps.outcome());
    }
    return outcomes;
  }

  private void putAll() {
    WindowSchedules schedules = ports.windows().orElseThrow();
    windows().all().forEach(window -> schedules.put(owner, window, clock.instant()));
  }
}

package dev.tollgate.controlplane;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.core.LogText;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The function that a schedule invokes every minute: reconciles unsettled tenants, and continues
 * the roll-outs of tiers and of the release.
 */
public final class Sweep implements RequestHandler<Map<String, Object>, Map<String, Long>> {
  /** The part of the invocation's time in which no work starts, because a step may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(12);

  private static final int MAX_TENANTS = 1_000;

  private final ControlPlane controlPlane;

  /** The function as Lambda creates it. */
  public Sweep() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public Sweep(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).controlPlane());
  }

  Sweep(ControlPlane controlPlane) {
    this.controlPlane = controlPlane;
  }

  /**
   * Runs one sweep.
   *
   * @param event ignored
   * @return the numbers of unsettled tenants and changed tiers, how many of them are finished now,
   *     and the number of silos that are not known to be at the current release
   */
  @Override
  public Map<String, Long> handleRequest(Map<String, Object> event, Context context) {
    Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    Invocation invocation =
        Invocation.of(
            controlPlane.clock(),
            time,
            line -> context.getLogger().log(LogText.lines(line) + "\n"));
    List<TenantId> unsettled =
        new ArrayList<>(controlPlane.ports().tenants().listPending(MAX_TENANTS));
    // In random order, so that tenants that fail at every attempt do not delay the others.
    Collections.shuffle(unsettled);
    Invocation forTenants = invocation.half();
    long settled =
        controlPlane.parallel().count(unsettled, id -> isSettled(id, forTenants), forTenants);
    Page<Tier> tiers = controlPlane.ports().tiers().list();
    tiers.unreadable().forEach(row -> invocation.log(row.reason()));
    List<Tier> changed =
        tiers.items().stream().filter(tier -> !TierCatalog.isRolledOut(tier)).toList();
    long rolledOut =
        changed.stream().filter(tier -> controlPlane.catalog().rollOut(tier, invocation)).count();
    long outdatedSilos = controlPlane.releaseRollOut().resume(invocation);
    Map<String, Long> swept =
        Map.of(
            "unsettledTenants",
            (long) unsettled.size(),
            "settledTenants",
            settled,
            "changedTiers",
            (long) changed.size(),
            "rolledOutTiers",
            rolledOut,
            "outdatedSilos",
            outdatedSilos);
    if (!unsettled.isEmpty() || !changed.isEmpty() || outdatedSilos > 0) {
      invocation.log("swept: " + swept);
    }
    return swept;
  }

  private boolean isSettled(TenantId id, Invocation invocation) {
    Optional<Tenant> tenant = controlPlane.ports().tenants().find(id);
    return tenant.isEmpty()
        || tenant.get().isSettled()
        || controlPlane.reconciler().reconcile(tenant.get(), Optional.empty(), invocation)
            instanceof ReconcileOutcome.Settled;
  }
}

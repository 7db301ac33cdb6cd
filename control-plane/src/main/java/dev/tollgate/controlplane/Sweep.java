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
 * The function that a schedule invokes every minute: goes on with the tenants whose desired state
 * has not been brought about, with the tiers that have not been rolled out, and with a release that
 * has not.
 */
public final class Sweep implements RequestHandler<Map<String, Object>, Map<String, Long>> {
  /** Nothing is begun when less than this is left: a slow step may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(12);

  private static final int MOST_TENANTS = 1_000;

  private final ControlPlane controlPlane;

  /** The sweep as AWS Lambda makes it. */
  public Sweep() {
    this(System.getenv(), InstantSource.system());
  }

  /** A sweep with these environment variables and this clock. */
  public Sweep(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).controlPlane());
  }

  Sweep(ControlPlane controlPlane) {
    this.controlPlane = controlPlane;
  }

  /**
   * Sweeps once.
   *
   * @param event not used
   * @return how many tenants and tiers were found unfinished, and how many of them were finished;
   *     and how many silos are not known to be of the latest release
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
        new ArrayList<>(controlPlane.ports().tenants().listPending(MOST_TENANTS));
    // Those that cannot be settled must not keep out the others, should there not be time for all.
    Collections.shuffle(unsettled);
    Invocation forTenants = invocation.half();
    long settled =
        controlPlane.crew().count(unsettled, id -> isSettled(id, forTenants), forTenants);
    Page<Tier> tiers = controlPlane.ports().tiers().list();
    tiers.unreadable().forEach(newer -> invocation.log(newer.reason()));
    List<Tier> changed =
        tiers.items().stream().filter(tier -> !TierCatalog.isRolledOut(tier)).toList();
    long rolledOut =
        changed.stream().filter(tier -> controlPlane.catalog().rollOut(tier, invocation)).count();
    long outdatedSilos = controlPlane.releaseRollOut().goOn(invocation);
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

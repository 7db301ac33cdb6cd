package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Quota;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Checks whether the account's Lambda quotas are high enough for the deployment. New accounts start
 * with low quotas.
 *
 * <p>What the deployment needs is a lower bound: each function of the stack and each silo function
 * can run once at the same time, and there is room for the code of ten more silos, or of a tenth of
 * the existing ones. Traffic may need more.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html">Lambda
 *     quotas</a>
 */
final class QuotaCheck implements Check {
  /** The number of checked quotas. */
  static final int COUNT = Quota.values().length;

  /** The functions that the stack creates. */
  static final int STACK_FUNCTIONS = 11;

  private static final long MIN_MORE_SILOS = 10;

  private final Ports ports;
  private final Release release;

  QuotaCheck(Ports ports, Release release) {
    this.ports = ports;
    this.release = release;
  }

  @Override
  public List<Finding> findings() {
    FunctionQuotas quotas = ports.siloFunctions().quotas(release);
    long silos = silos();
    List<Finding> findings = new ArrayList<>();
    long executions = STACK_FUNCTIONS + silos;
    if (quotas.executions() < executions) {
      findings.add(
          Finding.of(
              Quota.CONCURRENT_EXECUTIONS,
              "%,d executions at once without a reservation (expected: at least %,d, one for each of the stack's %d functions and of %,d silos)"
                  .formatted(quotas.executions(), executions, STACK_FUNCTIONS, silos)));
    }
    long moreSilos = Math.max(MIN_MORE_SILOS, silos / 10);
    if (quotas.moreSilos() < moreSilos) {
      findings.add(
          Finding.of(
              Quota.CODE_STORAGE,
              "%,d bytes free, room for %,d more silos of %,d bytes (expected: for at least %,d)"
                  .formatted(
                      quotas.freeCodeBytes(),
                      quotas.moreSilos(),
                      quotas.siloCodeBytes(),
                      moreSilos)));
    }
    return findings;
  }

  private long silos() {
    AtomicLong silos = new AtomicLong();
    TenantPages.forEach(
        ports.tenants(),
        tenant -> {
          if (tenant.isolation() == Isolation.SILO && tenant.status() != TenantStatus.OFFBOARDING) {
            silos.incrementAndGet();
          }
        });
    return silos.get();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Only AWS can increase a quota.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(
        findings.size(),
        new ReconcileOutcome.Pending(
            List.of("request an increase of this Lambda quota in the Service Quotas console")));
  }
}

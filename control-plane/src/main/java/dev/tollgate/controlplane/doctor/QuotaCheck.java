package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Quota;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks whether the account's quotas are high enough for the deployment. New accounts start with
 * low quotas of Lambda.
 *
 * <p>What the deployment needs of Lambda is a lower bound: each function of the stack and each silo
 * function can run once at the same time, and there is room for the code of ten more silos, or of a
 * tenth of the existing ones. Traffic may need more. Of API Gateway it needs as many new
 * connections a second as the connect rates of all active tenants allow together. EventBridge
 * Scheduler invokes the token producer up to a thousand times a second for the schedules of tenants
 * with the fill mode {@code PRODUCER}, and takes the executions from handshakes. Without shared
 * credentials, STS is asked for those of a tenant by each instance of a function: many new
 * instances ask at once when many clients return at once.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html">Lambda
 *     quotas</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html">Quotas
 *     for configuring and running a WebSocket in API Gateway</a>
 */
final class QuotaCheck implements Check {
  /** The number of checked quotas. */
  static final int COUNT = Quota.values().length;

  /** The functions that the stack creates. */
  static final int STACK_FUNCTIONS = 15;

  /** The least number of further silos whose code there should be room for. */
  static final long MIN_MORE_SILOS = 10;

  /** The most tenants whose own schedules should invoke the token producer. */
  static final long PRODUCER_TENANTS = 500;

  /**
   * The most tenants whose clients may return at once while each instance asks STS: docs/scale.md
   * has a simulation.
   */
  static final long UNSHARED_TENANTS = 500;

  /**
   * The default quota of EventBridge Scheduler in large Regions, in invocations a second.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/scheduler-quotas.html">Quotas
   *     for EventBridge Scheduler</a>
   */
  private static final long INVOCATIONS = 1_000;

  /** How long a fill runs, in milliseconds; estimated. */
  private static final long FILL_MS = 200;

  private final Ports ports;
  private final Release release;
  private final int connectionQuota;

  /**
   * @param connectionQuota how many new WebSocket connections a second API Gateway accepts
   */
  QuotaCheck(Ports ports, Release release, int connectionQuota) {
    this.ports = ports;
    this.release = release;
    this.connectionQuota = connectionQuota;
  }

  @Override
  public List<Finding> findings() {
    FunctionQuotas quotas = ports.siloFunctions().quotas(release);
    Needs needs = needs();
    long silos = needs.silos;
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
    if (connectionQuota < needs.connectionsPerSecond()) {
      findings.add(
          Finding.of(
              Quota.NEW_CONNECTIONS,
              "%,d new connections a second (expected: at least %,d, which the connect rates of %,d active tenants allow together)"
                  .formatted(connectionQuota, needs.connectionsPerSecond(), needs.active)));
    }
    if (needs.producerTenants > PRODUCER_TENANTS) {
      findings.add(
          Finding.of(
              Quota.PRODUCER_SCHEDULES,
              "%,d active tenants have %,d schedules of the fill mode PRODUCER, which fire once a minute: up to %,d invocations a second, or %,d of the account's concurrent executions (expected: at most %,d such tenants)"
                  .formatted(
                      needs.producerTenants,
                      needs.producerSchedules,
                      needs.invocations(),
                      needs.invocations() * FILL_MS / 1_000,
                      PRODUCER_TENANTS)));
    }
    if (ports.credentialsPolicy().isEmpty() && needs.active > UNSHARED_TENANTS) {
      findings.add(
          Finding.of(
              Quota.ASSUME_ROLE,
              "%,d active tenants, and each instance of a function asks STS for the credentials of each: if many clients return at once, for more than the 600 a second that STS gives (expected: at most %,d active tenants, or shared credentials)"
                  .formatted(needs.active, UNSHARED_TENANTS)));
    }
    return findings;
  }

  /** What all tenants need together. */
  private static final class Needs {
    private long silos;
    private long active;
    private long connectionsPerMinute;
    private long producerTenants;
    private long producerSchedules;

    private void add(Tenant tenant) {
      if (tenant.isolation() == Isolation.SILO && tenant.status() != TenantStatus.OFFBOARDING) {
        silos++;
      }
      if (tenant.status() == TenantStatus.ACTIVE) {
        active++;
        connectionsPerMinute += tenant.limits().get(Limit.TENANT_PER_MINUTE);
        long schedules =
            tenant.buckets().values().stream()
                .filter(bucket -> bucket.fillPolicy().mode() == FillMode.PRODUCER)
                .count();
        producerSchedules += schedules;
        producerTenants += schedules > 0 ? 1 : 0;
      }
    }

    /** In the busiest second, if all buckets are awake. */
    private long invocations() {
      return Math.min(INVOCATIONS, producerSchedules);
    }

    /** Rounded up. */
    private long connectionsPerSecond() {
      return (connectionsPerMinute + 59) / 60;
    }
  }

  private Needs needs() {
    Needs needs = new Needs();
    TenantPages.forEach(ports.tenants(), needs::add);
    return needs;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Only AWS can increase a quota, and only operators choose fill modes and options.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return findings.stream()
        .<ReconcileOutcome>map(
            finding -> new ReconcileOutcome.Pending(List.of(advice(finding.name()))))
        .toList();
  }

  private static String advice(String quota) {
    if (quota.equals(Quota.PRODUCER_SCHEDULES.key())) {
      return "give the tenants' tiers the fill mode SHARED, which invokes the token producer 16 times a minute for all tenants; or bound it with -c producerConcurrency=N";
    }
    if (quota.equals(Quota.ASSUME_ROLE.key())) {
      return "deploy with -c shareCredentials=true";
    }
    return quota.equals(Quota.NEW_CONNECTIONS.key())
        ? "request an increase of API Gateway's quota L-9ED1E49A in the Service Quotas console, then deploy with -c connectionQuota=N"
        : "request an increase of this Lambda quota in the Service Quotas console";
  }
}

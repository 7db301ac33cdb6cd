package dev.tollgate.controlplane.doctor;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.tenant.LimitSchedule;
import java.util.Locale;
import java.util.Optional;

/**
 * A resource whose actual state differs from the desired state.
 *
 * @param deviation how the states differ
 * @param resource the type of the resource
 * @param name the name of the resource: a tenant's id, a shard's, quota's or table's name, or a
 *     bucket's action and tenant
 * @param tenant the tenant of the resource; empty for a shard, a quota or a table's policy
 * @param action the action of the resource's bucket; empty for all other resources
 * @param detail the actual state, and the expected state in parentheses
 * @param pending whether the sweep removes the difference without a repair
 */
public record Finding(
    Deviation deviation,
    Resource resource,
    String name,
    Optional<TenantId> tenant,
    Optional<Action> action,
    String detail,
    boolean pending) {
  static Finding of(Deviation deviation, Resource resource, BucketId id, String detail) {
    return new Finding(
        deviation,
        resource,
        id.toString(),
        Optional.of(id.tenant()),
        Optional.of(id.action()),
        detail,
        false);
  }

  /** A bucket whose tokens are fewer than the connections that were admitted with one. */
  static Finding overAdmitted(BucketId id, String detail) {
    return of(Deviation.OVER_ADMITTED, Resource.BUCKET, id, detail);
  }

  /**
   * Whether this finding of a second check confirms one of the first. The numbers of an
   * over-admission may change meanwhile, and so may the reason why a resource is not checked. That
   * a second check could not see the resource does not refute the first.
   */
  boolean confirms(Finding first) {
    return switch (deviation) {
      case OVER_ADMITTED -> first.deviation == deviation && first.name.equals(name);
      case UNCHECKED -> first.resource == resource && first.name.equals(name);
      default -> equals(first);
    };
  }

  static Finding of(Deviation deviation, Shard shard, String detail) {
    return new Finding(
        deviation,
        Resource.SHARD_SCHEDULE,
        shard.toString(),
        Optional.empty(),
        Optional.empty(),
        detail,
        false);
  }

  /** A tenant that stays unsettled until somebody repairs it. */
  static Finding unsettled(TenantId id, String detail) {
    return unsettled(id, detail, false);
  }

  /** A tenant that the sweep settles. */
  static Finding pending(TenantId id, String detail) {
    return unsettled(id, detail, true);
  }

  private static Finding unsettled(TenantId id, String detail, boolean pending) {
    return new Finding(
        Deviation.UNSETTLED,
        Resource.TENANT,
        id.toString(),
        Optional.of(id),
        Optional.empty(),
        detail,
        pending);
  }

  static Finding of(Quota quota, String detail) {
    return new Finding(
        Deviation.TOO_LOW,
        Resource.QUOTA,
        quota.key(),
        Optional.empty(),
        Optional.empty(),
        detail,
        false);
  }

  /** A window of scheduled limits. */
  static Finding ofWindow(Deviation deviation, Subject owner, LimitSchedule window, String detail) {
    return new Finding(
        deviation,
        Resource.WINDOW_SCHEDULE,
        owner + "/" + window.id(),
        owner.tenant(),
        Optional.empty(),
        detail,
        false);
  }

  /** A table whose resource policy is missing, differs or cannot be read. */
  static Finding ofPolicy(Deviation deviation, String table, String detail) {
    return new Finding(
        deviation, Resource.TABLE_POLICY, table, Optional.empty(), Optional.empty(), detail, false);
  }

  /** A quota of the account. */
  enum Quota {
    /** How many functions without reserved concurrency may run at once. */
    CONCURRENT_EXECUTIONS,
    /** The storage for the code of functions. */
    CODE_STORAGE,
    /** How many new WebSocket connections API Gateway accepts in a second. */
    NEW_CONNECTIONS,
    /** How many tenants' own schedules may invoke the token producer. */
    PRODUCER_SCHEDULES,
    /** How many tenants' credentials STS issues in a second. */
    ASSUME_ROLE;

    /** The name in documents. */
    String key() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** How the actual and the desired state differ. */
  public enum Deviation {
    /** The resource does not exist but should. */
    MISSING,
    /** The resource exists with other settings than desired. */
    DIFFERS,
    /** The resource exists, but its owner does not. */
    ORPHANED,
    /** The tenant has not reached its desired state, or does not follow its tier. */
    UNSETTLED,
    /** The account's quota is lower than what the deployment needs. */
    TOO_LOW,
    /** More connections were admitted with a token than tokens of the bucket are gone. */
    OVER_ADMITTED,
    /** The resource could not be read. */
    UNCHECKED
  }

  /** The type of a resource. */
  public enum Resource {
    /** A tenant. */
    TENANT("tenant"),
    /** A bucket's row. */
    BUCKET("bucket"),
    /** A bucket's queue. */
    QUEUE("queue"),
    /** A bucket's schedule. */
    SCHEDULE("schedule"),
    /** A shard's schedule. */
    SHARD_SCHEDULE("shard-schedule"),
    /** A schedule that opens or closes the window of scheduled limits. */
    WINDOW_SCHEDULE("window-schedule"),
    /** A quota of the account. */
    QUOTA("quota"),
    /** The resource policy of a table. */
    TABLE_POLICY("table-policy");

    private final String key;

    Resource(String key) {
      this.key = key;
    }

    /** The name in documents. */
    public String key() {
      return key;
    }
  }
}

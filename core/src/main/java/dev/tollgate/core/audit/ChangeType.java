package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;
import java.util.Arrays;
import java.util.stream.Collectors;

/** What happened to a subject. */
public enum ChangeType {
  /** A tenant was created. */
  TENANT_ONBOARDED("TenantOnboarded"),
  /** A tenant's tier, overrides or status changed, or limits that follow from its tier. */
  TENANT_CHANGED("TenantChanged"),
  /**
   * A tenant's queues, rows and schedules are provisioned again; its settings stay. A missing queue
   * or a new release requests it.
   */
  TENANT_RECONCILED("TenantReconciled"),
  /** The same, because an operator repaired drift. */
  DRIFT_REPAIRED("DriftRepaired"),
  /** The offboarding of a tenant was requested. */
  TENANT_OFFBOARDED("TenantOffboarded"),
  /** All that a tenant had is gone. */
  TENANT_REMOVED("TenantRemoved"),
  /** An operator ended a session of a tenant. */
  SESSION_ENDED("SessionEnded"),
  /** An operator requested that dead letters of a tenant are processed again. */
  DEAD_LETTERS_REDRIVEN("DeadLettersRedriven"),
  /** A tier was created. */
  TIER_CREATED("TierCreated"),
  /** A tier changed. */
  TIER_CHANGED("TierChanged"),
  /** A tier was deleted. */
  TIER_REMOVED("TierRemoved"),
  /** A tier stopped enforcing its limits by itself, because they refused too many. */
  RETREAT_BEGUN("RetreatBegun"),
  /** A window was scheduled in which the limits of a tier or a tenant are multiplied. */
  LIMITS_SCHEDULED("LimitsScheduled"),
  /** Such a window opened. */
  WINDOW_OPENED("WindowOpened"),
  /** Such a window closed, at its time. */
  WINDOW_CLOSED("WindowClosed"),
  /** Such a window was cancelled, before or while it was open. */
  SCHEDULE_CANCELLED("ScheduleCancelled"),
  /** Limits refuse many connections of a tenant. */
  TENANT_THROTTLED("TenantThrottled"),
  /** No limit refused a connection of a throttled tenant for five minutes. */
  TENANT_RECOVERED("TenantRecovered"),
  /** A tenant uses at least 80 % of a limit. */
  LIMIT_NEAR("LimitNear"),
  /** All limits were lifted until an instant, or until another one. */
  ADMIT_ALL_TURNED_ON("AdmitAllTurnedOn"),
  /** The limits were enforced again before that instant. */
  ADMIT_ALL_TURNED_OFF("AdmitAllTurnedOff");

  private final String label;

  ChangeType(String label) {
    this.label = label;
  }

  /** The name in rows, documents and events. */
  public String label() {
    return label;
  }

  /**
   * The type with this name.
   *
   * @throws InvalidValue if there is none
   */
  public static ChangeType labelled(String label) {
    return Arrays.stream(values())
        .filter(each -> each.label.equals(label))
        .findAny()
        .orElseThrow(
            () ->
                new InvalidValue(
                    "what",
                    label,
                    Arrays.stream(values())
                        .map(ChangeType::label)
                        .collect(Collectors.joining(", "))));
  }
}

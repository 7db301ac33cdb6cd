package dev.tollgate.client;

/** Thrown if a tenant is not onboarded, or its tier has no bucket for an action. */
public final class UnknownBucket extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final String tenantId;
  private final String action;

  UnknownBucket(String tenantId, String action, boolean isTenantKnown) {
    super(
        isTenantKnown
            ? "action: %s (expected: an action that the tier of tenant %s has a bucket for)"
                .formatted(action, tenantId)
            : "tenantId: %s (expected: an onboarded tenant), action: %s"
                .formatted(tenantId, action));
    this.tenantId = tenantId;
    this.action = action;
  }

  /** The tenant's id. */
  public String tenantId() {
    return tenantId;
  }

  /** The action. */
  public String action() {
    return action;
  }
}

package dev.tollgate.core.bucket;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;

/** Identifies a bucket: the tenant, and the action that its tokens pay for. */
public record BucketId(TenantId tenant, Action action) {
  @Override
  public String toString() {
    return action + "_" + tenant;
  }
}

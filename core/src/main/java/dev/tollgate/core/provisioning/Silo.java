package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Release;
import java.time.Instant;

/**
 * A tenant's own message queue, dead-letter queue and function. This row exists from before the
 * first of them is created until after the last is deleted.
 *
 * <p>A queue with messages must not be deleted, and a queue that is being deleted must not be
 * reopened. So every transition is written here first, as the version after the one that was read.
 *
 * @param tenant the tenant
 * @param state the stage of its life
 * @param since when it entered that stage
 * @param release the release that its function has, or is being updated to
 * @param version counts its changes, from 0
 */
public record Silo(TenantId tenant, State state, Instant since, Release release, long version) {
  /** The stages of a silo's life. */
  public enum State {
    /** It accepts messages, or is being created. */
    OPEN,
    /** It stops accepting messages; its queue may not be closed yet. */
    CLOSING,
    /** Its queue is closed; the messages in it are processed. */
    CLOSED,
    /** It is being deleted, which cannot be reverted. */
    LEAVING
  }

  /** A new silo. */
  public static Silo opened(TenantId tenant, Release release, Instant now) {
    return new Silo(tenant, State.OPEN, now, release, 0);
  }

  /** This silo accepting messages, with its function at this release. */
  public Silo reopened(Release next, Instant now) {
    return new Silo(tenant, State.OPEN, now, next, version + 1);
  }

  /** This silo in another state. */
  public Silo withState(State next, Instant now) {
    return new Silo(tenant, next, now, release, version + 1);
  }

  /** Whether it accepts messages and its function has, or is being updated to, this release. */
  public boolean isOpenAt(Release wanted) {
    return state == State.OPEN && release.equals(wanted);
  }
}

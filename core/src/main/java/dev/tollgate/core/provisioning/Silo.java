package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Release;
import java.time.Instant;

/**
 * What a tenant has for its messages alone: a queue, its dead letters, and a function. It is
 * written down before the first of these is made and until the last is gone.
 *
 * <p>A queue with messages in it must not go, and nobody may reopen one that is about to. So what
 * becomes of a silo is written here first, each time as the version after the one that was read.
 *
 * @param tenant whose it is
 * @param state how far it is on its way
 * @param since when it came into that state
 * @param release what its function is, or is being, brought to
 * @param version counts its changes, from 0
 */
public record Silo(TenantId tenant, State state, Instant since, Release release, long version) {
  /** How far a silo is on its way. */
  public enum State {
    /** It takes messages, or is being made. */
    OPEN,
    /** It is to take no more messages; whether its queue knows is not sure. */
    CLOSING,
    /** Its queue has been told to take no more messages; those in it are processed. */
    CLOSED,
    /** It is being removed, and nothing can keep it. */
    LEAVING
  }

  /** A silo that is to be made. */
  public static Silo opened(TenantId tenant, Release release, Instant now) {
    return new Silo(tenant, State.OPEN, now, release, 0);
  }

  /** This silo taking messages, its function at this release. */
  public Silo reopened(Release next, Instant now) {
    return new Silo(tenant, State.OPEN, now, next, version + 1);
  }

  /** This silo in another state. */
  public Silo withState(State next, Instant now) {
    return new Silo(tenant, next, now, release, version + 1);
  }

  /** Whether it takes messages and its function is, or is being, brought to this release. */
  public boolean isOpenAt(Release wanted) {
    return state == State.OPEN && release.equals(wanted);
  }
}

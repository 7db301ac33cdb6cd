package dev.tollgate.core.session;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import java.time.Duration;

/**
 * Brings a tenant's count of connections to the truth, which is how many there are in the sets of
 * its sessions.
 *
 * <p>A registration writes both, one after the other or at once, and so does a departure: between
 * the two writes they differ, and nothing is wrong. What is in flight at one look has landed at the
 * next, a second later. So only what two looks agree on is drift: the smaller of the two
 * differences, if they have one sign. It is added to the count rather than written over it, and
 * only if the count is still what the second look saw, for whatever moved it may have been what was
 * missing. Should something in flight be taken for drift all the same, the next recount takes that
 * back.
 */
public final class Recount {
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

  private final Sessions sessions;
  private final Connections connections;
  private final Pause pause;

  /**
   * A recount of the connections in {@code sessions}.
   *
   * @param pause what passes between two looks
   */
  public Recount(Sessions sessions, Connections connections, Pause pause) {
    this.sessions = sessions;
    this.connections = connections;
    this.pause = pause;
  }

  /**
   * Repairs a tenant's count.
   *
   * @return the drift that was repaired: how many connections too many were counted, or, below
   *     none, too few
   * @throws Unavailable if that could not be read or written
   */
  public long repair(TenantId tenant) {
    long first = look(tenant).drift();
    if (first == 0) {
      return 0;
    }
    pause.of(BETWEEN_LOOKS);
    if (Thread.currentThread().isInterrupted()) {
      return 0;
    }
    Look second = look(tenant);
    long drift = common(first, second.drift());
    boolean repaired =
        drift != 0 && connections.correctCount(tenant, second.counted(), -drift) == Written.DONE;
    return repaired ? drift : 0;
  }

  /** The count comes first: if it stands when it is corrected, it stood all the while. */
  private Look look(TenantId tenant) {
    long counted = connections.count(tenant);
    long open =
        sessions.list(tenant).stream().mapToLong(session -> session.connections().size()).sum();
    return new Look(counted, counted - open);
  }

  private static long common(long one, long other) {
    if (Long.signum(one) != Long.signum(other)) {
      return 0;
    }
    return Math.abs(one) < Math.abs(other) ? one : other;
  }

  /**
   * What was seen at one look.
   *
   * @param drift how many more are counted than there are
   */
  private record Look(long counted, long drift) {}
}

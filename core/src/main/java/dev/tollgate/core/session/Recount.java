package dev.tollgate.core.session;

import static dev.tollgate.core.session.ConnectionCount.PARTS;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Brings a tenant's count of connections to the truth, which is how many there are in the sets of
 * its sessions, while connections come and go.
 *
 * <p>A connect writes its session and the count, and so does a disconnect. Between the two writes
 * the sum of the sets and the count differ, and nothing is wrong. On a busy tenant some connection
 * is always between its two writes, so the difference as a whole never settles. Each {@linkplain
 * ConnectionCount part} of the count sees one change in 64, and is compared with its own
 * connections only.
 *
 * <p>A part is off by what all looks agree on: the smallest of its differences, if they have one
 * sign. Each look reads the count before and after the sessions, and both readings count, so what
 * changes during a look is not taken for drift. The looks lie further apart than a write may take.
 * A part would have to be caught between two writes at every look for a passing difference to be
 * corrected.
 *
 * <p>What is found is added to the count, not written over it, so it does not matter that the count
 * has moved on. A correction is refused if another one came since the first look: of two recounts
 * that find the same drift, one corrects it.
 */
public final class Recount {
  /**
   * The pauses between looks. Together they are longer than the time after which a connect or a
   * disconnect gives up a write.
   */
  private static final List<Duration> BETWEEN_LOOKS =
      List.of(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(3));

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
    return repair(tenant, look(tenant));
  }

  /**
   * Repairs a tenant's count by a look that was just taken, and others if that finds drift.
   *
   * @return as {@link #repair(TenantId)}
   * @throws Unavailable if that could not be read or written
   */
  long repair(TenantId tenant, Look first) {
    Drift drift = first.drift();
    for (Duration between : BETWEEN_LOOKS) {
      if (drift.isNone()) {
        return 0;
      }
      pause.of(between);
      if (Thread.currentThread().isInterrupted()) {
        return 0;
      }
      drift = drift.and(look(tenant).drift());
    }
    boolean repaired =
        !drift.isNone()
            && connections.correct(tenant, first.before(), drift.correction()) == Written.DONE;
    return repaired ? drift.total() : 0;
  }

  /** Reads a tenant's count and sessions. */
  Look look(TenantId tenant) {
    ConnectionCount before = connections.countOf(tenant);
    List<Session> found = sessions.list(tenant);
    return new Look(before, found, connections.countOf(tenant));
  }

  /**
   * What is seen at one look.
   *
   * @param before the count that was read before the sessions
   * @param after the count that was read after them
   */
  record Look(ConnectionCount before, List<Session> sessions, ConnectionCount after) {
    /** What the two counts agree on. */
    private Drift drift() {
      long[] open = new long[PARTS];
      sessions.stream()
          .flatMap(session -> session.connections().stream())
          .forEach(id -> open[ConnectionCount.partOf(id)]++);
      return Drift.of(before, open).and(Drift.of(after, open));
    }
  }

  /**
   * How many more are counted than there are.
   *
   * @param parts in each part
   * @param unattributed in none of them
   */
  private record Drift(List<Long> parts, long unattributed) {
    static Drift of(ConnectionCount count, long[] open) {
      return new Drift(
          IntStream.range(0, PARTS).mapToObj(i -> count.parts().get(i) - open[i]).toList(),
          count.unattributed());
    }

    /** What this and another have in common. */
    Drift and(Drift other) {
      return new Drift(
          IntStream.range(0, PARTS)
              .mapToObj(i -> common(parts.get(i), other.parts.get(i)))
              .toList(),
          common(unattributed, other.unattributed));
    }

    private static long common(long one, long other) {
      if (Long.signum(one) != Long.signum(other)) {
        return 0;
      }
      return Math.abs(one) < Math.abs(other) ? one : other;
    }

    boolean isNone() {
      return unattributed == 0 && parts.stream().allMatch(part -> part == 0);
    }

    long total() {
      return unattributed + parts.stream().mapToLong(Long::longValue).sum();
    }

    Correction correction() {
      Map<Integer, Long> by = new HashMap<>();
      for (int i = 0; i < PARTS; i++) {
        if (parts.get(i) != 0) {
          by.put(i, -parts.get(i));
        }
      }
      return new Correction(-total(), by);
    }
  }
}

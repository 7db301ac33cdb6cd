package dev.tollgate.core.housekeeping;

import static dev.tollgate.core.session.ConnectionCount.PARTS;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.Sessions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Brings a tenant's count of connections to the truth, which is how many there are in the sets of
 * its sessions, while connections come and go.
 *
 * <p>A connect writes its session and the count, and so does a disconnect. Between the two writes
 * the sets and the count differ, and nothing is wrong. On a busy tenant some connection is always
 * between its two writes, so the difference as a whole never settles. But each {@linkplain
 * ConnectionCount part} of the count sees one change in {@value ConnectionCount#PARTS}, and stands
 * still every now and then.
 *
 * <p>A look reads the sessions, the count, and the sessions again, with a short pause on either
 * side of the count. A part whose connections are the same before and after stood still, so its
 * difference is drift, unless a write has been on its way for longer than the pause. For that case
 * a difference must be seen twice, so far apart that a write is given up in between. What is
 * corrected is the smallest difference that was seen, if all have one sign.
 *
 * <p>The correction is added to the count, not written over it, so it does not matter that the
 * count has moved on. It is refused if another correction came meanwhile: of two recounts that find
 * the same drift, one corrects it.
 */
public final class Recount {
  /** Passes between reading the count and reading the sessions: longer than a write takes. */
  private static final Duration MARGIN = Duration.ofMillis(50);

  /** Passes between two looks while some part has not been seen to stand still. */
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);

  /** Lies between two sights of a drift: longer than the time after which a write is given up. */
  private static final Duration APART = Duration.ofSeconds(5);

  private static final int MOST_LOOKS = 12;

  private final Sessions sessions;
  private final Connections connections;
  private final Pause pause;

  /**
   * A recount of the connections in {@code sessions}.
   *
   * @param pause what passes between two reads
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
    return repair(tenant, snapshot(tenant));
  }

  /**
   * Repairs a tenant's count, if a glance that was just taken gives reason to look closer.
   *
   * @return as {@link #repair(TenantId)}
   * @throws Unavailable if that could not be read or written
   */
  long repair(TenantId tenant, Snapshot glance) {
    return glance.isRight() ? 0 : new DriftSearch(tenant, glance.count()).repair();
  }

  /** Reads a tenant's sessions and its count once. */
  Snapshot snapshot(TenantId tenant) {
    List<Session> found = sessions.list(tenant);
    return new Snapshot(found, connections.readCount(tenant));
  }

  /** What a tenant's sessions and its count were, one read after the other. */
  record Snapshot(List<Session> sessions, ConnectionCount count) {
    private boolean isRight() {
      List<Set<String>> parts = parts(sessions);
      return count.unattributed() == 0
          && IntStream.range(0, PARTS)
              .allMatch(part -> count.parts().get(part) == parts.get(part).size());
    }
  }

  /** The connections of sessions, by the part in which they are counted. */
  private static List<Set<String>> parts(List<Session> sessions) {
    Map<Integer, Set<String>> parts =
        sessions.stream()
            .flatMap(session -> session.connections().stream())
            .collect(Collectors.groupingBy(ConnectionCount::partOf, Collectors.toSet()));
    return IntStream.range(0, PARTS).mapToObj(part -> parts.getOrDefault(part, Set.of())).toList();
  }

  /** Looks for drift until every part is known to be right or wrong. */
  private final class DriftSearch {
    private final TenantId tenant;
    private final ConnectionCount first;
    private final Map<Integer, Observations> sights = new HashMap<>();
    private Duration elapsed = Duration.ZERO;

    private DriftSearch(TenantId tenant, ConnectionCount first) {
      this.tenant = tenant;
      this.first = first;
    }

    private long repair() {
      for (int looks = 1; ; looks++) {
        Optional<ConnectionCount> seen = look();
        if (seen.isEmpty()) {
          return 0;
        }
        if (looks == MOST_LOOKS || isOver()) {
          return correct(seen.get());
        }
        passes(untilNextLook());
      }
    }

    /** Looks once; empty if the thread is to end. */
    private Optional<ConnectionCount> look() {
      List<Set<String>> before = parts(sessions.list(tenant));
      passes(MARGIN);
      ConnectionCount count = connections.readCount(tenant);
      passes(MARGIN);
      List<Set<String>> after = parts(sessions.list(tenant));
      for (int part = 0; part < PARTS; part++) {
        if (before.get(part).equals(after.get(part))) {
          long difference = count.parts().get(part) - after.get(part).size();
          sights.merge(part, new Observations(difference, elapsed, elapsed), Observations::and);
        }
      }
      return Thread.currentThread().isInterrupted() ? Optional.empty() : Optional.of(count);
    }

    private void passes(Duration time) {
      pause.of(time);
      elapsed = elapsed.plus(time);
    }

    private boolean isOver() {
      return sights.size() == PARTS && sights.values().stream().allMatch(Observations::isEnough);
    }

    /** If all parts were seen, only time has to pass until they are seen again. */
    private Duration untilNextLook() {
      Duration left =
          sights.values().stream()
              .filter(seen -> !seen.isEnough())
              .map(seen -> seen.first().plus(APART).minus(elapsed))
              .max(Duration::compareTo)
              .orElse(BETWEEN_LOOKS);
      return sights.size() == PARTS && left.compareTo(BETWEEN_LOOKS) > 0 ? left : BETWEEN_LOOKS;
    }

    /**
     * Corrects the parts that are known to be wrong. What is counted in no part belongs to all of
     * them, so it is corrected with all or not at all.
     */
    private long correct(ConnectionCount last) {
      long unattributed = common(first.unattributed(), last.unattributed());
      if (unattributed != 0 && !isOver()) {
        return 0;
      }
      Map<Integer, Long> parts = new HashMap<>();
      sights.forEach(
          (part, seen) -> {
            if (seen.drift() != 0 && seen.isEnough()) {
              parts.put(part, -seen.drift());
            }
          });
      long drift = unattributed - parts.values().stream().mapToLong(Long::longValue).sum();
      if (drift == 0 && parts.isEmpty()) {
        return 0;
      }
      WriteResult written = connections.correct(tenant, first, new Correction(-drift, parts));
      return written == WriteResult.DONE ? drift : 0;
    }
  }

  private static long common(long one, long other) {
    if (Long.signum(one) != Long.signum(other)) {
      return 0;
    }
    return Math.abs(one) < Math.abs(other) ? one : other;
  }

  /**
   * What was seen of a part whenever it stood still.
   *
   * @param drift how many more were counted than there were, each time
   * @param first when it was seen first
   * @param last when it was seen last
   */
  private record Observations(long drift, Duration first, Duration last) {
    Observations and(Observations later) {
      return new Observations(common(drift, later.drift), first, later.last);
    }

    boolean isEnough() {
      return drift == 0 || last.minus(first).compareTo(APART) >= 0;
    }
  }
}

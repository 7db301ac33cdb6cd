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
 * Corrects a tenant's connection count while connections open and close. The sets of its sessions
 * are the truth.
 *
 * <p>A connect and a disconnect each write the session and the count. Between the two writes the
 * sets and the count differ, which is not drift. In a busy tenant some connection is always between
 * its two writes, so the total difference never settles. But each {@linkplain ConnectionCount part}
 * of the count sees only one change in {@value ConnectionCount#PARTS}, so it is stable from time to
 * time.
 *
 * <p>An observation reads the sessions, the count, and the sessions again, with a short pause
 * before and after the count. If a part has the same connections before and after, it was stable,
 * and its difference is drift, unless a write took longer than the pause. For that case a
 * difference must be observed twice, so far apart that the SDK has abandoned any such write. The
 * recount corrects the smallest observed difference, if all differences have the same sign.
 *
 * <p>The correction is added to the count and does not replace it, so concurrent changes of the
 * count do not matter. It fails if another correction came first: of two recounts that find the
 * same drift, only one corrects it.
 */
public final class Recount {
  /** The pause between reading the count and reading the sessions: longer than a write takes. */
  private static final Duration MARGIN = Duration.ofMillis(50);

  /** The pause between two observations while some part was never stable. */
  private static final Duration OBSERVATION_INTERVAL = Duration.ofMillis(500);

  /** The time between two observations of a drift: longer than the SDK tries a write. */
  private static final Duration APART = Duration.ofSeconds(5);

  private static final int MAX_OBSERVATIONS = 12;

  private final Sessions sessions;
  private final Connections connections;
  private final Pause pause;

  /**
   * A recount of the connections in {@code sessions}.
   *
   * @param pause waits between two reads
   */
  public Recount(Sessions sessions, Connections connections, Pause pause) {
    this.sessions = sessions;
    this.connections = connections;
    this.pause = pause;
  }

  /**
   * Repairs a tenant's count.
   *
   * @return the repaired drift: positive if the count was too high, negative if it was too low
   * @throws Unavailable if a store fails
   */
  public long repair(TenantId tenant) {
    return repair(tenant, snapshot(tenant));
  }

  /**
   * Repairs a tenant's count, if this recent snapshot shows a difference.
   *
   * @return as {@link #repair(TenantId)}
   * @throws Unavailable if a store fails
   */
  long repair(TenantId tenant, Snapshot snapshot) {
    return snapshot.isRight() ? 0 : new DriftSearch(tenant, snapshot.count()).repair();
  }

  /** Reads a tenant's sessions and its count once. */
  Snapshot snapshot(TenantId tenant) {
    List<Session> found = sessions.list(tenant);
    return new Snapshot(found, connections.readCount(tenant));
  }

  /** A tenant's sessions and its count, read one after the other. */
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

  /** Observes the parts until it is known for each whether it has drifted. */
  private final class DriftSearch {
    private final TenantId tenant;
    private final ConnectionCount first;
    private final Map<Integer, Observations> observations = new HashMap<>();
    private Duration elapsed = Duration.ZERO;

    private DriftSearch(TenantId tenant, ConnectionCount first) {
      this.tenant = tenant;
      this.first = first;
    }

    private long repair() {
      for (int count = 1; ; count++) {
        Optional<ConnectionCount> seen = observe();
        if (seen.isEmpty()) {
          return 0;
        }
        if (count == MAX_OBSERVATIONS || isComplete()) {
          return correct(seen.get());
        }
        pass(untilNextObservation());
      }
    }

    /** Observes all parts once; empty if the thread was interrupted. */
    private Optional<ConnectionCount> observe() {
      List<Set<String>> before = parts(sessions.list(tenant));
      pass(MARGIN);
      ConnectionCount count = connections.readCount(tenant);
      pass(MARGIN);
      List<Set<String>> after = parts(sessions.list(tenant));
      for (int part = 0; part < PARTS; part++) {
        if (before.get(part).equals(after.get(part))) {
          long difference = count.parts().get(part) - after.get(part).size();
          observations.merge(
              part, new Observations(difference, elapsed, elapsed), Observations::and);
        }
      }
      return Thread.currentThread().isInterrupted() ? Optional.empty() : Optional.of(count);
    }

    private void pass(Duration time) {
      pause.of(time);
      elapsed = elapsed.plus(time);
    }

    private boolean isComplete() {
      return observations.size() == PARTS
          && observations.values().stream().allMatch(Observations::isEnough);
    }

    /**
     * The pause until the next observation. If every part was observed, only a second observation
     * is missing.
     */
    private Duration untilNextObservation() {
      Duration left =
          observations.values().stream()
              .filter(seen -> !seen.isEnough())
              .map(seen -> seen.first().plus(APART).minus(elapsed))
              .max(Duration::compareTo)
              .orElse(OBSERVATION_INTERVAL);
      return observations.size() == PARTS && left.compareTo(OBSERVATION_INTERVAL) > 0
          ? left
          : OBSERVATION_INTERVAL;
    }

    /**
     * Corrects the parts that have drifted. The unattributed part of the count is only corrected if
     * all parts are known.
     */
    private long correct(ConnectionCount last) {
      long unattributed = common(first.unattributed(), last.unattributed());
      if (unattributed != 0 && !isComplete()) {
        return 0;
      }
      Map<Integer, Long> parts = new HashMap<>();
      observations.forEach(
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
   * The observations of a part while it was stable.
   *
   * @param drift the smallest difference between the count and the sets
   * @param first when it was observed first
   * @param last when it was observed last
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

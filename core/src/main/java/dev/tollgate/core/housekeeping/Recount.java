package dev.tollgate.core.housekeeping;

import static dev.tollgate.core.session.ConnectionCount.PARTS;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.SessionPages;
import dev.tollgate.core.session.Sessions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

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
 * <p>Most of the time of a search is the pause between its observations. So the searches of many
 * tenants pause together, and a thousand take about as long as one.
 *
 * <p>A search holds two numbers for each part, however many sessions there are. It reads all
 * sessions twice for each observation, so a tenant with many sessions is observed less often: at
 * least twice, and further while no more than {@value #MAX_ROWS} sessions are read. If traffic
 * changes some parts during all these observations, their drift stays until traffic lets up.
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

  /**
   * The most observations of a search, which take 17 s for 500 sessions. A drift is missed if its
   * part is stable in no two of them that are {@link #APART}. With half as many observations, one
   * search in 200 of a tenant with 100 changes a second missed a drift; with these, none of 600.
   */
  private static final int MAX_OBSERVATIONS = 24;

  /** The most sessions that a search reads for more than two observations. */
  private static final long MAX_ROWS = 100_000;

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
   * Repairs the counts of several tenants together. A count that is right at a first look takes one
   * read of the count and of the sessions.
   *
   * @param exists whether a tenant exists; others have no count
   * @param executor runs the observations
   * @return the result for each tenant
   */
  public Map<TenantId, Repair> repair(
      Collection<TenantId> tenants, Predicate<TenantId> exists, Executor executor) {
    Rounds rounds = new Rounds(tenants, executor, () -> false);
    rounds.forEach(rounds.open, search -> search.look(exists));
    return rounds.run();
  }

  /**
   * Repairs the counts of several tenants together, without a first look whether they are right.
   *
   * @param isLate whether no observation should begin; then what is known is corrected
   */
  Map<TenantId, Repair> repair(
      Collection<TenantId> tenants, Executor executor, BooleanSupplier isLate) {
    return new Rounds(tenants, executor, isLate).run();
  }

  /**
   * The result of the repair of a count.
   *
   * @param drift the repaired drift: positive if the count was too high, negative if it was too low
   * @param failure why the count is not repaired, if it is not: {@link Unavailable} if a store
   *     failed, {@link UnreadableRow} if a session or the count cannot be read
   */
  public record Repair(long drift, Optional<RuntimeException> failure) {
    /** The reason of the failure, for logs. */
    public Optional<String> reason() {
      return failure.map(Recount::reason);
    }
  }

  /** Whether a tenant's count is right, read once. A concurrent change may make it seem wrong. */
  boolean isRight(TenantId tenant) {
    return parts(tenant).isCountedBy(connections.readCount(tenant));
  }

  private ConnectionParts parts(TenantId tenant) {
    ConnectionParts parts = new ConnectionParts();
    SessionPages.forEach(sessions, tenant, Sessions.Consistency.CONSISTENT, parts::add);
    return parts;
  }

  /** Searches that pause together. */
  private final class Rounds {
    private final List<DriftSearch> all;
    private final List<DriftSearch> open;
    private final Executor executor;
    private final BooleanSupplier isLate;

    private Rounds(Collection<TenantId> tenants, Executor executor, BooleanSupplier isLate) {
      this.all = tenants.stream().map(DriftSearch::new).toList();
      this.open = new ArrayList<>(all);
      this.executor = executor;
      this.isLate = isLate;
    }

    private Map<TenantId, Repair> run() {
      open.removeIf(DriftSearch::isOver);
      while (!open.isEmpty()) {
        boolean late = isLate.getAsBoolean();
        if (!late) {
          forEach(open.stream().filter(DriftSearch::isDue).toList(), DriftSearch::observe);
        }
        open.removeIf(DriftSearch::isOver);
        List<DriftSearch> known =
            open.stream().filter(search -> late || search.knowsEnough()).toList();
        forEach(known, DriftSearch::correct);
        open.removeAll(known);
        open.stream().map(DriftSearch::untilDue).min(Duration::compareTo).ifPresent(this::pass);
      }
      return all.stream()
          .collect(
              Collectors.toMap(
                  search -> search.tenant, search -> new Repair(search.drift, search.failure)));
    }

    private void forEach(List<DriftSearch> searches, Consumer<DriftSearch> step) {
      Threads.forEach(searches, search -> search.attempt(step), executor);
    }

    private void pass(Duration time) {
      pause.of(time);
      if (Thread.currentThread().isInterrupted()) {
        open.forEach(DriftSearch::interrupt);
        open.clear();
      }
      open.forEach(search -> search.pass(time));
    }
  }

  /** Observes the parts of a tenant until it is known for each whether it has drifted. */
  private final class DriftSearch {
    private final TenantId tenant;
    private final Map<Integer, Observations> observations = new HashMap<>();
    private Optional<ConnectionCount> first = Optional.empty();
    private ConnectionCount last = ConnectionCount.NONE;
    private Duration elapsed = Duration.ZERO;
    private Duration dueAt = Duration.ZERO;
    private int observed;
    private long rows;
    private boolean right;
    private long drift;
    private Optional<RuntimeException> failure = Optional.empty();

    private DriftSearch(TenantId tenant) {
      this.tenant = tenant;
    }

    private void attempt(Consumer<DriftSearch> step) {
      try {
        step.accept(this);
      } catch (RuntimeException failed) {
        failure = Optional.of(failed);
      }
    }

    /** Ends the search if the tenant's count is right, or if there is none. */
    private void look(Predicate<TenantId> exists) {
      right = !exists.test(tenant) || isRight(tenant);
    }

    private boolean isOver() {
      return right || failure.isPresent();
    }

    private void interrupt() {
      failure = Optional.of(new Unavailable("the recount was interrupted"));
    }

    private boolean isDue() {
      return untilDue().isZero();
    }

    private Duration untilDue() {
      return dueAt.compareTo(elapsed) > 0 ? dueAt.minus(elapsed) : Duration.ZERO;
    }

    /** Observes all parts once. */
    private void observe() {
      ConnectionParts before = parts(tenant);
      waitFor(MARGIN);
      last = connections.readCount(tenant);
      waitFor(MARGIN);
      ConnectionParts after = parts(tenant);
      if (Thread.currentThread().isInterrupted()) {
        interrupt();
        return;
      }
      first = first.or(() -> Optional.of(last));
      observed++;
      rows += before.sessions() + after.sessions();
      for (int part = 0; part < PARTS; part++) {
        if (before.isSame(part, after)) {
          long difference = last.parts().get(part) - after.size(part);
          observations.merge(
              part, new Observations(difference, elapsed, elapsed), Observations::and);
        }
      }
      dueAt = elapsed.plus(untilNextObservation());
    }

    private void waitFor(Duration time) {
      pause.of(time);
      pass(time);
    }

    private void pass(Duration time) {
      elapsed = elapsed.plus(time);
    }

    private boolean knowsEnough() {
      return isComplete()
          || observed >= MAX_OBSERVATIONS
          || (observed >= 2 && readsTooMuchWith(observed + 1));
    }

    /** Whether this many observations read more sessions than a search may. */
    private boolean readsTooMuchWith(int count) {
      return rows / observed * count > MAX_ROWS;
    }

    private boolean isComplete() {
      return observations.size() == PARTS
          && observations.values().stream().allMatch(Observations::isEnough);
    }

    /**
     * The pause until the next observation. If every part was observed, only a second observation
     * is missing. The same pause comes before the last observation of a tenant with many sessions.
     */
    private Duration untilNextObservation() {
      Duration left =
          observations.values().stream()
              .filter(seen -> !seen.isEnough())
              .map(seen -> seen.first().plus(APART).minus(elapsed))
              .max(Duration::compareTo)
              .orElse(OBSERVATION_INTERVAL);
      boolean isNextLast = observations.size() == PARTS || readsTooMuchWith(observed + 2);
      return isNextLast && left.compareTo(OBSERVATION_INTERVAL) > 0 ? left : OBSERVATION_INTERVAL;
    }

    /**
     * Corrects the parts that have drifted. The unattributed part of the count is only corrected if
     * all parts are known.
     */
    private void correct() {
      ConnectionCount seen = first.orElse(last);
      long unattributed = common(seen.unattributed(), last.unattributed());
      if (unattributed != 0 && !isComplete()) {
        return;
      }
      Map<Integer, Long> parts = new HashMap<>();
      observations.forEach(
          (part, difference) -> {
            if (difference.drift() != 0 && difference.isEnough()) {
              parts.put(part, -difference.drift());
            }
          });
      long found = unattributed - parts.values().stream().mapToLong(Long::longValue).sum();
      if (found == 0 && parts.isEmpty()) {
        return;
      }
      WriteResult written = connections.correct(tenant, seen, new Correction(-found, parts));
      drift = written == WriteResult.DONE ? found : 0;
    }
  }

  /** The reason of a failure, for logs. */
  static String reason(RuntimeException failure) {
    if (failure instanceof Unavailable unavailable) {
      return unavailable.reason();
    }
    return failure instanceof UnreadableRow unreadable ? unreadable.reason() : failure.toString();
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

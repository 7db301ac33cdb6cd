package dev.tollgate.controlplane.silo;

import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silo.State;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Brings a tenant's silo about, drains it, and removes it.
 *
 * <p>Its row is written before its queues, its function and the mapping that feeds the one from the
 * other are made, in this order, and removed after they are gone, in the opposite one: so nothing
 * is left behind that the row does not tell of.
 *
 * <p>A tenant that goes to the pool may have messages in its queue, and still be sending some. So
 * the queue is closed first. A minute later that is in force, and another minute later the queue
 * cannot look emptier than it is; when it looks empty then, twice, it is. A run for an earlier
 * version of the tenant may make the queue or open it while it drains: it is closed anew then, and
 * the minutes begin again. Until the row says that the silo is leaving, the tenant may have it
 * back; from then on it has to go, dead letters to the pool's, before there can be another.
 */
public final class SiloSteps {
  private static final Duration DRAINING = Duration.ofMinutes(2);

  /** Most functions can be invoked within seconds; the others are left to the sweep. */
  private static final int MOST_LOOKS = 5;

  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);
  private static final int MOST_ATTEMPTS = 10;

  private final Ports ports;
  private final Release release;
  private final Pause pause;
  private final InstantSource clock;

  public SiloSteps(Ports ports, Release release, Pause pause, InstantSource clock) {
    this.ports = ports;
    this.release = release;
    this.pause = pause;
    this.clock = clock;
  }

  /**
   * Writes down that the tenant has a silo, and makes its queues.
   *
   * @return {@link QueueCreation#RECENTLY_DELETED} also if a silo that the tenant had before is not
   *     gone yet
   */
  public QueueCreation open(TenantId id) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Instant now = clock.instant();
      Optional<Silo> found = ports.silos().find(id);
      if (found.isPresent() && found.get().state() == State.LEAVING) {
        if (vacate(found.get()) == Progress.IN_PROGRESS) {
          return QueueCreation.RECENTLY_DELETED;
        }
      } else if (found.isPresent() && found.get().isOpenAt(release)) {
        return ports.siloQueues().ensure(id);
      } else {
        WriteResult written =
            found.isPresent()
                ? ports.silos().replace(found.get().reopened(release, now))
                : ports.silos().open(Silo.opened(id, release, now));
        if (written == WriteResult.DONE) {
          return ports.siloQueues().ensure(id);
        }
      }
    }
    throw new Unavailable("overtaken " + MOST_ATTEMPTS + " times");
  }

  /** Has the messages in the tenant's queues processed by a function of its own. */
  public void start(TenantId id, QueueCreation queues, Steps steps) {
    String function = "silo function of " + id;
    if (queues == QueueCreation.RECENTLY_DELETED) {
      steps.postpone("silo of " + id + ": the one before it is not gone for long enough");
    } else if (take(function, () -> makeFunction(id), steps)) {
      take("feed of " + function, () -> ports.siloFunctions().attach(id), steps);
    }
  }

  private Progress makeFunction(TenantId id) {
    Progress made = ports.siloFunctions().ensure(id, release);
    for (int look = 1; look < MOST_LOOKS && made == Progress.IN_PROGRESS; look++) {
      pause.of(BETWEEN_LOOKS);
      made = ports.siloFunctions().ensure(id, release);
    }
    return made;
  }

  /** Takes a step that may have to be taken again later; returns whether it is done. */
  private static boolean take(String what, Supplier<Progress> step, Steps steps) {
    Optional<Progress> taken = steps.attempt(what, step);
    if (taken.equals(Optional.of(Progress.IN_PROGRESS))) {
      steps.postpone(what + ": not ready yet");
    }
    return taken.equals(Optional.of(Progress.DONE));
  }

  /** Has a tenant of the pool use its silo no more, if it has one, and removes it when it may. */
  public void close(TenantId id, Steps steps) {
    steps
        .attempt("silo of " + id, () -> ports.silos().find(id))
        .flatMap(found -> found)
        .ifPresent(silo -> close(silo, steps));
  }

  private void close(Silo silo, Steps steps) {
    TenantId id = silo.tenant();
    switch (silo.state()) {
      case OPEN -> closeIn(State.CLOSING, silo, steps);
      case CLOSING -> {
        if (steps.done("queue of the silo of " + id, () -> ports.siloQueues().close(id))) {
          closeIn(State.CLOSED, silo, steps);
        }
      }
      case CLOSED -> {
        Optional<Boolean> closed =
            steps.attempt("queue of the silo of " + id, () -> ports.siloQueues().isClosed(id));
        if (closed.isEmpty()) {
          return;
        }
        if (!closed.get()) {
          closeIn(State.CLOSING, silo, steps);
        } else if (clock.instant().isBefore(silo.since().plus(DRAINING))) {
          steps.postpone("silo of " + id + ": draining");
        } else if (isDrained(id, steps)) {
          closeIn(State.LEAVING, silo, steps);
        }
      }
      case LEAVING -> take("removal of the silo of " + id, () -> vacate(silo), steps);
    }
  }

  private void closeIn(State next, Silo silo, Steps steps) {
    write(silo.withState(next, clock.instant()), steps).ifPresent(written -> close(written, steps));
  }

  /** Whether the queue is empty. If not, its messages get a function, should they have none. */
  private boolean isDrained(TenantId id, Steps steps) {
    String queue = "queue of the silo of " + id;
    Optional<Long> depth = steps.attempt(queue, () -> ports.siloQueues().depth(id));
    if (depth.isPresent() && depth.get() == 0) {
      pause.of(BETWEEN_LOOKS);
      depth = steps.attempt(queue, () -> ports.siloQueues().depth(id));
    }
    if (depth.isPresent() && depth.get() > 0) {
      steps.postpone(queue + ": " + depth.get() + " messages left");
      start(id, QueueCreation.EXISTED, steps);
    }
    return depth.isPresent() && depth.get() == 0;
  }

  /** Removes an empty silo that is leaving; its dead letters go to the pool's. */
  private Progress vacate(Silo leaving) {
    TenantId id = leaving.tenant();
    return ports.siloFunctions().detach(id) == Progress.DONE
            && ports.siloQueues().moveDeadLetters(id) == Progress.DONE
        ? demolish(leaving)
        : Progress.IN_PROGRESS;
  }

  /** Removes what is not fed any more, with whatever is left in its queues. */
  private Progress demolish(Silo leaving) {
    TenantId id = leaving.tenant();
    if (ports.siloFunctions().delete(id) == Progress.IN_PROGRESS) {
      return Progress.IN_PROGRESS;
    }
    ports.siloQueues().delete(id);
    ports.silos().remove(id, leaving.version());
    return Progress.DONE;
  }

  /** Removes the silo of a tenant that is leaving, with all the messages in it. */
  public void remove(Tenant tenant, Steps steps) {
    TenantId id = tenant.id();
    Optional<Optional<Silo>> found = steps.attempt("silo of " + id, () -> ports.silos().find(id));
    found
        .flatMap(row -> row.or(() -> unwritten(tenant)))
        .flatMap(
            silo ->
                silo.state() == State.LEAVING
                    ? Optional.of(silo)
                    : write(silo.withState(State.LEAVING, clock.instant()), steps))
        .ifPresent(silo -> take("removal of the silo of " + id, () -> abandon(silo), steps));
  }

  private Progress abandon(Silo leaving) {
    return ports.siloFunctions().detach(leaving.tenant()) == Progress.DONE
        ? demolish(leaving)
        : Progress.IN_PROGRESS;
  }

  /**
   * What a run for an earlier version of the tenant may have made meanwhile, though another has
   * removed the row.
   */
  private Optional<Silo> unwritten(Tenant tenant) {
    return tenant.isolation() == Isolation.SILO
        ? Optional.of(new Silo(tenant.id(), State.LEAVING, clock.instant(), release, 0))
        : Optional.empty();
  }

  private Optional<Silo> write(Silo next, Steps steps) {
    Optional<WriteResult> written =
        steps.attempt("silo of " + next.tenant(), () -> ports.silos().replace(next));
    if (written.filter(answer -> answer == WriteResult.CONFLICT).isPresent()) {
      steps.postpone("silo of " + next.tenant() + ": overtaken");
    }
    return written.filter(answer -> answer == WriteResult.DONE).map(done -> next);
  }
}

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
 * Provides, drains and removes a tenant's silo: its row, its queues, its function, and the event
 * source mapping from the queue to the function.
 *
 * <p>The parts are created in this order and removed in the opposite order. So every queue,
 * function and mapping has a row, even after a crash.
 *
 * <p>A tenant that moves to the pool may have messages in its queue and may still send some.
 * Therefore the queue is closed first. Closing takes effect within a minute. A minute after that,
 * the reported number of messages is reliable. The queue counts as drained if it is then reported
 * empty twice. While the queue drains, a run for an earlier version of the tenant may create or
 * open it; the queue is then closed again and the wait restarts. Until the row's state is {@code
 * LEAVING}, the tenant can get its silo back. After that the silo must be removed, and its dead
 * letters moved to the pool, before the tenant can get another.
 */
public final class SiloSteps {
  private static final Duration DRAINING_TIME = Duration.ofMinutes(2);

  /** Most new functions can be invoked within seconds. The sweep waits for the others. */
  private static final int MAX_POLLS = 5;

  private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);
  private static final int MAX_ATTEMPTS = 10;

  private final Ports ports;
  private final Release release;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * Steps over these ports.
   *
   * @param release the release that the functions of silos run
   */
  public SiloSteps(Ports ports, Release release, Pause pause, InstantSource clock) {
    this.ports = ports;
    this.release = release;
    this.pause = pause;
    this.clock = clock;
  }

  /**
   * Writes the row of the tenant's silo and creates its queues.
   *
   * @return {@link QueueCreation#RECENTLY_DELETED} also if the tenant's previous silo is not
   *     removed yet
   */
  public QueueCreation open(TenantId id) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Instant now = clock.instant();
      Optional<Silo> found = ports.silos().find(id);
      if (found.isPresent() && found.get().state() == State.LEAVING) {
        if (removeDrained(found.get()) == Progress.IN_PROGRESS) {
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
    throw new Unavailable(
        "each of " + MAX_ATTEMPTS + " writes conflicted with a concurrent change");
  }

  /** Creates the tenant's function and connects it to the tenant's queue. */
  public void start(TenantId id, QueueCreation queues, Steps steps) {
    String function = "silo function of " + id;
    if (queues == QueueCreation.RECENTLY_DELETED) {
      steps.postpone("silo of " + id + ": its previous queues were deleted too recently");
    } else if (run(function, () -> makeFunction(id, queues), steps)) {
      run("event source of " + function, () -> ports.siloFunctions().attach(id), steps);
    }
  }

  /** Returns at least a second after a queue was created, because it may be unknown until then. */
  private Progress makeFunction(TenantId id, QueueCreation queues) {
    Progress made = ports.siloFunctions().ensure(id, release);
    if (made == Progress.DONE && queues == QueueCreation.CREATED) {
      pause.of(POLL_INTERVAL);
    }
    for (int poll = 1; poll < MAX_POLLS && made == Progress.IN_PROGRESS; poll++) {
      pause.of(POLL_INTERVAL);
      made = ports.siloFunctions().ensure(id, release);
    }
    return made;
  }

  /** Runs a step that may need to be repeated later; returns whether it is done. */
  private static boolean run(String name, Supplier<Progress> step, Steps steps) {
    Optional<Progress> progress = steps.attempt(name, step);
    if (progress.equals(Optional.of(Progress.IN_PROGRESS))) {
      steps.postpone(name + ": not ready yet");
    }
    return progress.equals(Optional.of(Progress.DONE));
  }

  /** Drains and removes the silo of a tenant that is in the pool now, if it still has a silo. */
  public void close(TenantId id, Steps steps) {
    steps
        .attempt("silo of " + id, () -> ports.silos().find(id))
        .flatMap(found -> found)
        .ifPresent(silo -> close(silo, steps));
  }

  private void close(Silo silo, Steps steps) {
    TenantId id = silo.tenant();
    switch (silo.state()) {
      case OPEN -> advance(State.CLOSING, silo, steps);
      case CLOSING -> {
        if (steps.run("queue of the silo of " + id, () -> ports.siloQueues().close(id))) {
          advance(State.CLOSED, silo, steps);
        }
      }
      case CLOSED -> {
        Optional<Boolean> closed =
            steps.attempt("queue of the silo of " + id, () -> ports.siloQueues().isClosed(id));
        if (closed.isEmpty()) {
          return;
        }
        if (!closed.get()) {
          advance(State.CLOSING, silo, steps);
        } else if (clock.instant().isBefore(silo.since().plus(DRAINING_TIME))) {
          steps.postpone("silo of " + id + ": draining");
        } else if (isDrained(id, steps)) {
          advance(State.LEAVING, silo, steps);
        }
      }
      case LEAVING -> run("removal of the silo of " + id, () -> removeDrained(silo), steps);
    }
  }

  /** Writes the silo's next state and continues from there. */
  private void advance(State next, Silo silo, Steps steps) {
    write(silo.withState(next, clock.instant()), steps).ifPresent(written -> close(written, steps));
  }

  /** Whether the queue is empty. If not, the function is started, in case it is missing. */
  private boolean isDrained(TenantId id, Steps steps) {
    String queue = "queue of the silo of " + id;
    Optional<Long> depth = steps.attempt(queue, () -> ports.siloQueues().depth(id));
    if (depth.isPresent() && depth.get() == 0) {
      pause.of(POLL_INTERVAL);
      depth = steps.attempt(queue, () -> ports.siloQueues().depth(id));
    }
    if (depth.isPresent() && depth.get() > 0) {
      steps.postpone(queue + ": " + depth.get() + " messages left");
      start(id, QueueCreation.EXISTED, steps);
    }
    return depth.isPresent() && depth.get() == 0;
  }

  /** Removes a drained silo, and moves its dead letters to the pool. */
  private Progress removeDrained(Silo leaving) {
    TenantId id = leaving.tenant();
    return ports.siloFunctions().detach(id) == Progress.DONE
            && ports.siloQueues().moveDeadLetters(id) == Progress.DONE
        ? delete(leaving)
        : Progress.IN_PROGRESS;
  }

  /** Deletes a silo whose function is detached, with all messages that are left in its queues. */
  private Progress delete(Silo leaving) {
    TenantId id = leaving.tenant();
    if (ports.siloFunctions().delete(id) == Progress.IN_PROGRESS) {
      return Progress.IN_PROGRESS;
    }
    ports.siloQueues().delete(id);
    ports.silos().remove(id, leaving.version());
    return Progress.DONE;
  }

  /** Removes the silo of a tenant that is being offboarded, with all its messages. */
  public void remove(Tenant tenant, Steps steps) {
    TenantId id = tenant.id();
    Optional<Optional<Silo>> found = steps.attempt("silo of " + id, () -> ports.silos().find(id));
    found
        .flatMap(row -> row.or(() -> siloWithoutRow(tenant)))
        .flatMap(
            silo ->
                silo.state() == State.LEAVING
                    ? Optional.of(silo)
                    : write(silo.withState(State.LEAVING, clock.instant()), steps))
        .ifPresent(
            silo -> run("removal of the silo of " + id, () -> removeWithMessages(silo), steps));
  }

  private Progress removeWithMessages(Silo leaving) {
    return ports.siloFunctions().detach(leaving.tenant()) == Progress.DONE
        ? delete(leaving)
        : Progress.IN_PROGRESS;
  }

  /**
   * A silo that may exist without a row: a run for an earlier version of the tenant may create
   * parts of it after another run has removed the row.
   */
  private Optional<Silo> siloWithoutRow(Tenant tenant) {
    return tenant.isolation() == Isolation.SILO
        ? Optional.of(new Silo(tenant.id(), State.LEAVING, clock.instant(), release, 0))
        : Optional.empty();
  }

  private Optional<Silo> write(Silo next, Steps steps) {
    Optional<WriteResult> written =
        steps.attempt("silo of " + next.tenant(), () -> ports.silos().replace(next));
    if (written.filter(result -> result == WriteResult.CONFLICT).isPresent()) {
      steps.postpone("silo of " + next.tenant() + ": changed concurrently");
    }
    return written.filter(result -> result == WriteResult.DONE).map(done -> next);
  }
}

package dev.tollgate.core.enforcement;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether limits are enforced now, in one process.
 *
 * <p>While limits are enforced, the switch is read only for a request that a limit is about to
 * refuse, and while they are not, for any request; at most once in five seconds. So an admitted
 * request costs no read in normal times, and every process follows the switch within five seconds.
 * One thread reads at a time; the others go on with what was read before. If the switch cannot be
 * read, the process goes on as it last read it.
 */
public final class Enforcement {
  /** How long a process goes by what it has read. */
  static final Duration KNOWN_FOR = Duration.ofSeconds(5);

  private final AdmitAllSwitch admitAll;
  private final InstantSource clock;
  private final AtomicBoolean reading = new AtomicBoolean();
  private volatile Known known = new Known(Optional.empty(), Instant.MIN);

  /** Enforcement by this switch. */
  public Enforcement(AdmitAllSwitch admitAll, InstantSource clock) {
    this.admitAll = admitAll;
    this.clock = clock;
  }

  /** Why a request must be admitted that a limit would refuse; empty if it must be refused. */
  public Optional<AdmitAll> lifted() {
    if (!known.isFreshAt(clock.instant()) && reading.compareAndSet(false, true)) {
      try {
        learn(read(known.state()));
      } finally {
        reading.set(false);
      }
    }
    return known.state().filter(state -> state.isOnAt(clock.instant()));
  }

  /**
   * Why a request need not be compared with a limit; empty if this process knows no reason. Costs
   * no read if limits were enforced when it last read the switch.
   */
  public Optional<AdmitAll> knownLifted() {
    return known.state().filter(state -> state.isOnAt(clock.instant())).flatMap(on -> lifted());
  }

  /** Takes over what this process has just read from the switch, or written to it. */
  public void learn(Optional<AdmitAll> state) {
    known = new Known(state, clock.instant());
  }

  private Optional<AdmitAll> read(Optional<AdmitAll> before) {
    try {
      return admitAll.read();
    } catch (Unavailable | UnreadableRow failed) {
      return before;
    }
  }

  /**
   * What a process has read.
   *
   * @param at when
   */
  private record Known(Optional<AdmitAll> state, Instant at) {
    boolean isFreshAt(Instant now) {
      return !now.isBefore(at) && now.isBefore(at.plus(KNOWN_FOR));
    }
  }
}

package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.connect.Activity;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes a metric line for each tenant with more connections than minted tokens, as {@link
 * TokenCheck} finds them. A tenant in use is checked in one minute of each hour, with one request.
 *
 * <p>The tokens in the queue are not subtracted, as the doctor does for quiet tenants: SQS tells
 * their number only to a tenant's own role, which would take a request to STS for each tenant.
 */
public final class TokenWatch {
  private static final long MINUTES = Duration.ofHours(1).toMinutes();

  /** The most minutes of a check. After a longer break, each has too many tenants. */
  private static final long MAX_AT_ONCE = 5;

  private final Activity activity;
  private final ParallelTasks parallel;

  /** The minute of the last complete check, since the epoch. */
  private final AtomicLong last = new AtomicLong();

  /** A watch over the rows of tenants. */
  public TokenWatch(Activity activity, ParallelTasks parallel) {
    this.activity = activity;
    this.parallel = parallel;
  }

  /**
   * Checks those of the tenants whose turn it is, or was since the last complete check. Sweeps do
   * not begin in every minute, so one may have to check the tenants of two.
   *
   * @param began when this sweep began: a slow sweep must not skip a minute
   * @return how many have more connections than tokens
   */
  public long check(Collection<TenantId> tenants, Instant began, Invocation invocation) {
    long minute = Duration.between(Instant.EPOCH, began).toMinutes();
    last.compareAndSet(0, minute - 1);
    long minutes = Math.max(0, Math.min(MAX_AT_ONCE, minute - last.get()));
    List<TenantId> due =
        tenants.stream().filter(id -> Math.floorMod(minute - turn(id), MINUTES) < minutes).toList();
    long overAdmitted = parallel.count(due, id -> isOverAdmitted(id, invocation), invocation);
    // Without time, some were not checked: the next sweep checks them.
    if (!invocation.isOver()) {
      last.set(minute);
    }
    return overAdmitted;
  }

  /** The minute of the hour in which a tenant is checked, which spreads the requests. */
  private static long turn(TenantId id) {
    return Math.floorMod(id.value().hashCode(), MINUTES);
  }

  /** One request does not read its rows at one instant: what it finds is looked at again. */
  private boolean isOverAdmitted(TenantId id, Invocation invocation) {
    Optional<Finding> found = finding(id).flatMap(first -> finding(id));
    found.ifPresent(
        finding ->
            invocation.log(
                MetricLine.overAdmitted(invocation.clock().instant(), id, finding.detail())));
    return found.isPresent();
  }

  private Optional<Finding> finding(TenantId id) {
    try {
      return TokenCheck.beyondMinted(activity.of(id));
    } catch (UnreadableRow reportedByTheDoctor) {
      return Optional.empty();
    }
  }
}

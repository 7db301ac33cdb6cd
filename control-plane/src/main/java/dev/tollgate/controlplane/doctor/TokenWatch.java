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

/**
 * Writes a metric line for each tenant with more connections than minted tokens, as {@link
 * TokenCheck} finds them. A tenant in use is checked in one minute of each hour, with one request.
 *
 * <p>The tokens in the queue are not subtracted, as the doctor does for quiet tenants: SQS tells
 * their number only to a tenant's own role, which would take a request to STS for each tenant.
 */
public final class TokenWatch {
  private static final long MINUTES = Duration.ofHours(1).toMinutes();

  private final Activity activity;
  private final ParallelTasks parallel;

  /** A watch over the rows of tenants. */
  public TokenWatch(Activity activity, ParallelTasks parallel) {
    this.activity = activity;
    this.parallel = parallel;
  }

  /**
   * Checks those of the tenants whose turn it is.
   *
   * @param minute the minute of this check
   * @return how many have more connections than tokens
   */
  public long check(Collection<TenantId> tenants, Instant minute, Invocation invocation) {
    long turn = Duration.between(Instant.EPOCH, minute).toMinutes() % MINUTES;
    List<TenantId> due = tenants.stream().filter(id -> turn(id) == turn).toList();
    return parallel.count(due, id -> isOverAdmitted(id, invocation), invocation);
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

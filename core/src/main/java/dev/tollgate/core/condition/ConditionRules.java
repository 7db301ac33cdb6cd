package dev.tollgate.core.condition;

import dev.tollgate.core.history.Counts;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * When a tenant counts as throttled or near a limit, and when a tier stops to enforce its limits.
 *
 * <p>A tenant is throttled if limits refused at least {@value #MIN_REFUSED} of its connections in
 * the last five complete minutes, and at least {@value #THROTTLED_PERCENT} % of them. It has
 * recovered after five minutes without a refusal. It is near a limit from {@value #NEAR_PERCENT} %
 * on until below {@value #NOT_NEAR_PERCENT} %. So a state does not change back and forth around one
 * value.
 */
public final class ConditionRules {
  /** The time that a decision looks back on. */
  public static final Duration WINDOW = Duration.ofMinutes(5);

  static final int MIN_REFUSED = 10;
  static final int THROTTLED_PERCENT = 5;
  static final int NEAR_PERCENT = 80;
  static final int NOT_NEAR_PERCENT = 70;

  /** Fewer connections than this say nothing about a tier. */
  static final int MIN_ATTEMPTS = 100;

  /** Not the rate of messages: tokens that a smaller tier removed are counted as taken. */
  private static final List<Limit> WATCHED =
      List.of(Limit.TENANT_PER_MINUTE, Limit.TENANT_CONNECTIONS);

  private ConditionRules() {}

  /**
   * The condition of a tenant.
   *
   * @param before its condition until now
   * @param limits its limits. One that is off is not watched
   * @param window what happened in the last {@link #WINDOW}
   * @param open its open connections; empty if they are not known better than by the window's peak
   */
  public static TenantCondition next(
      TenantCondition before, Limits limits, Counts window, OptionalLong open) {
    return before.with(throttling(before, window)).with(near(before, limits, window, open));
  }

  private static Optional<TenantCondition.Throttling> throttling(
      TenantCondition before, Counts window) {
    long refused = refused(window, limit -> true);
    if (before.throttled().isPresent()) {
      return before.throttled().filter(since -> refused > 0);
    }
    long attempts = attempts(window, refused);
    return refused >= MIN_REFUSED && isAtLeast(refused, attempts, THROTTLED_PERCENT)
        ? Optional.of(new TenantCondition.Throttling(attempts - refused, refused))
        : Optional.empty();
  }

  private static Map<Limit, Long> near(
      TenantCondition before, Limits limits, Counts window, OptionalLong open) {
    Map<Limit, Long> near = new TreeMap<>();
    for (Limit limit : WATCHED) {
      Optional<Long> since = Optional.ofNullable(before.near().get(limit));
      used(limit, window, open)
          .ifPresentOrElse(
              used -> {
                int percent = since.isPresent() ? NOT_NEAR_PERCENT : NEAR_PERCENT;
                if (limits.mode(limit) != LimitMode.OFF
                    && isAtLeast(used, limits.get(limit), percent)) {
                  near.put(limit, since.orElse(used));
                }
              },
              () -> since.ifPresent(known -> near.put(limit, known)));
    }
    return near;
  }

  /** What is used of a limit; of rates the average of a minute, rounded up. Empty if unknown. */
  private static OptionalLong used(Limit limit, Counts window, OptionalLong open) {
    return switch (limit) {
      case TENANT_PER_MINUTE ->
          OptionalLong.of(perMinute(attempts(window, refused(window, any -> true))));
      default -> open.isPresent() || window.peak() == 0 ? open : OptionalLong.of(window.peak());
    };
  }

  private static long perMinute(long count) {
    return -Math.floorDiv(-Math.max(0, count), WINDOW.toMinutes());
  }

  /**
   * Whether a tier must stop to enforce its limits.
   *
   * @param window what happened to its tenants in the last minutes, together
   */
  public static boolean mustRetreat(Tier tier, Counts window) {
    long refused =
        refused(window, limit -> tier.limits().observed().mode(limit) == LimitMode.OBSERVE);
    long attempts = attempts(window, refused);
    return tier.retreat()
        .filter(
            rule ->
                attempts >= MIN_ATTEMPTS
                    && refused * 100 > rule.abovePercent() * attempts
                    && !tier.limits().observed().equals(tier.limits()))
        .isPresent();
  }

  private static long refused(Counts window, Predicate<Limit> by) {
    return window.refused().entrySet().stream()
        .filter(each -> each.getKey().limit().filter(by).isPresent())
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static long attempts(Counts window, long refused) {
    return Math.max(0, window.admitted()) + refused;
  }

  private static boolean isAtLeast(long part, long whole, int percent) {
    return part * 100 >= whole * percent;
  }
}

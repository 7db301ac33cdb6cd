package dev.tollgate.core.condition;

import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * When a tenant counts as throttled or near a limit, and when a tier stops enforcing its limits.
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

  /** The refusals by limits; the others are those of a failing service. */
  private static final Set<Refusal> REASONS =
      Set.of(
          Refusal.TENANT_CONNECTIONS,
          Refusal.SESSION_CONNECTIONS,
          Refusal.SESSION_RATE,
          Refusal.TENANT_RATE);

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
   * Whether a tier must stop enforcing its limits: the share of refused connections is too high, of
   * at least {@value #MIN_ATTEMPTS}, also without the tenant that was refused most. So no single
   * tenant lifts the limits of others.
   *
   * @param tenants what happened to each of its tenants in the last minutes
   */
  public static boolean mustRetreat(Tier tier, Collection<Share> tenants) {
    Share all = tenants.stream().reduce(Share.NONE, Share::plus);
    Share most = tenants.stream().max(Comparator.comparingLong(Share::refused)).orElse(Share.NONE);
    return !tier.limits().observed().equals(tier.limits())
        && tier.retreat()
            .filter(rule -> all.isAbove(rule) && all.minus(most).isAbove(rule))
            .isPresent();
  }

  /**
   * Connections of a tenant, or of a tier.
   *
   * @param refused those that were refused by limits of the tier
   * @param connections all, admitted or refused
   */
  public record Share(long refused, long connections) {
    /** Nothing. */
    public static final Share NONE = new Share(0, 0);

    /** The share of a tenant. Limits that it overrides are not its tier's. */
    public static Share of(Tenant tenant, Counts window) {
      Overrides own = tenant.overrides();
      long refused =
          ConditionRules.refused(
              window, limit -> !own.limits().containsKey(limit) && !own.modes().containsKey(limit));
      return new Share(refused, attempts(window, refused));
    }

    /** The sum. */
    public Share plus(Share other) {
      return new Share(refused + other.refused, connections + other.connections);
    }

    private Share minus(Share other) {
      return new Share(refused - other.refused, connections - other.connections);
    }

    private boolean isAbove(Retreat rule) {
      return connections >= MIN_ATTEMPTS && refused * 100 > rule.abovePercent() * connections;
    }
  }

  private static long refused(Counts window, Predicate<Limit> by) {
    return window.refused().entrySet().stream()
        .filter(each -> REASONS.contains(each.getKey()))
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

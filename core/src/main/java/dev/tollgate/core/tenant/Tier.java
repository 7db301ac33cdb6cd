package dev.tollgate.core.tenant;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Refill;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A named set of limits and buckets.
 *
 * @param name its name
 * @param isolation whether its tenants have their own queue and function
 * @param limits the limits of its tenants, unless they override them
 * @param buckets its own buckets, and capacities of {@code connect} and {@code message}; at most 20
 * @param fillPolicy what fills their buckets, and when that stops
 * @param onUnavailable what happens to connections when a queue fails
 * @param line whether refused callers of its tenants wait in line. Nobody waits for a rate that is
 *     not enforced
 * @param retreat when it stops enforcing its limits; empty for never
 * @param schedules when its limits are multiplied
 * @param version counts its changes, from 1; 0 for a default tier that was never stored
 * @param rolledOut the version that is in effect for every tenant of the tier
 */
public record Tier(
    TierName name,
    Isolation isolation,
    Limits limits,
    Map<Action, BucketTerms> buckets,
    FillPolicy fillPolicy,
    OnUnavailable onUnavailable,
    boolean line,
    Optional<Retreat> retreat,
    LimitSchedules schedules,
    long version,
    long rolledOut) {
  private static final int MAX_BUCKETS = 20;

  /** The tiers of a new deployment, which can be changed and deleted. */
  public static final List<Tier> DEFAULTS =
      List.of(
          standard("bronze", Isolation.POOL, Limits.of(60, 5, 2, 10, 200, 60), 2),
          standard("silver", Isolation.POOL, Limits.of(120, 10, 5, 100, 300, 600), 5),
          standard("gold", Isolation.SILO, Limits.of(180, 30, 10, 1000, 300, 6000), 10));

  /**
   * Checks the buckets.
   *
   * @throws InvalidValue if there are too many, {@code connect} or {@code message} has a rate,
   *     another one has none, or the fill policy does not support one
   */
  public Tier {
    InvalidValue.inRange("buckets", buckets.size(), 0, MAX_BUCKETS);
    buckets.forEach(Tier::checkTerms);
    buckets = Map.copyOf(buckets);
    specs(limits, buckets, fillPolicy, line, Factor.ONE);
    for (LimitSchedule schedule : schedules.all()) {
      specs(limits, buckets, fillPolicy, line, schedule.factor());
    }
  }

  /** A tier without scheduled limits. */
  public Tier(
      TierName name,
      Isolation isolation,
      Limits limits,
      Map<Action, BucketTerms> buckets,
      FillPolicy fillPolicy,
      OnUnavailable onUnavailable,
      boolean line,
      Optional<Retreat> retreat,
      long version,
      long rolledOut) {
    this(
        name,
        isolation,
        limits,
        buckets,
        fillPolicy,
        onUnavailable,
        line,
        retreat,
        LimitSchedules.NONE,
        version,
        rolledOut);
  }

  /** A default tier, whose subjects can each hold only a part of a tenant's connections. */
  private static Tier standard(
      String name, Isolation isolation, Limits limits, long sessionsPerSubject) {
    return new Tier(
        new TierName(name),
        isolation,
        limits.with(
            Map.of(
                Limit.SESSION_LIFETIME, 86_400L, Limit.SESSIONS_PER_SUBJECT, sessionsPerSubject)),
        Map.of(),
        FillPolicy.DEFAULT,
        OnUnavailable.ADMIT,
        true,
        Optional.empty(),
        0,
        0);
  }

  private static void checkTerms(Action action, BucketTerms terms) {
    Optional<Limit> limit = limitOf(action);
    if (limit.isPresent()) {
      terms
          .refill()
          .ifPresent(
              refill -> {
                boolean isRate = refill instanceof Rate;
                throw new InvalidValue(
                    "buckets." + action + (isRate ? ".ratePerMinute" : ".refill"),
                    isRate ? ((Rate) refill).tokensPerMinute() : refill,
                    (isRate ? "no rate" : "no calendar")
                        + "; set limits."
                        + limit.get().key()
                        + " instead");
              });
    }
    InvalidValue.unless(
        limit.isPresent() || terms.refill().isPresent(),
        "buckets." + action + ".ratePerMinute",
        "missing",
        "tokens a minute, such as 0.2, or a refill by a calendar");
  }

  private static Optional<Limit> limitOf(Action action) {
    if (action.equals(Action.CONNECT)) {
      return Optional.of(Limit.TENANT_PER_MINUTE);
    }
    return action.equals(Action.MESSAGE)
        ? Optional.of(Limit.MESSAGES_PER_MINUTE)
        : Optional.empty();
  }

  /**
   * The limits of a tenant of this tier that has these overrides.
   *
   * @throws InvalidValue if an override is out of range
   */
  Limits limitsUnder(Overrides overrides) {
    return overrides.factorIn(this).times(overrides.limitsIn(this));
  }

  /**
   * Every bucket of a tenant of this tier that has these overrides.
   *
   * @throws InvalidValue if an override is out of range, or the tier's fill mode does not support
   *     one of the buckets, now or in the window of a schedule
   */
  public SortedMap<Action, BucketSpec> bucketsUnder(Overrides overrides) {
    schedulesUnder(overrides).forEach(schedule -> bucketsUnder(overrides, schedule.factor()));
    bucketsUnder(overrides, Factor.ONE);
    return bucketsUnder(overrides, overrides.factorIn(this));
  }

  private SortedMap<Action, BucketSpec> bucketsUnder(Overrides overrides, Factor factor) {
    return specs(
        overrides.limitsIn(this), buckets, fillPolicy, overrides.line().orElse(line), factor);
  }

  private Stream<LimitSchedule> schedulesUnder(Overrides overrides) {
    return Stream.concat(schedules.all().stream(), overrides.schedules().all().stream());
  }

  /**
   * Checks that the scheduled limits of this tier, and those of a tenant that has these overrides,
   * do not exceed what a request may set.
   *
   * @throws InvalidValue if one does
   */
  public void checkSchedules(Overrides overrides) {
    Limits unmultiplied = overrides.limitsIn(this);
    schedulesUnder(overrides).forEach(schedule -> schedule.factor().check(unmultiplied, buckets));
  }

  private static SortedMap<Action, BucketSpec> specs(
      Limits unmultiplied,
      Map<Action, BucketTerms> buckets,
      FillPolicy filling,
      boolean line,
      Factor factor) {
    Limits resolved = factor.times(unmultiplied);
    BucketTerms plain = new BucketTerms(Optional.empty(), Optional.empty());
    SortedMap<Action, BucketSpec> specs = new TreeMap<>();
    for (Action action : List.of(Action.CONNECT, Action.MESSAGE)) {
      Limit limit = limitOf(action).orElseThrow();
      BucketTerms terms = buckets.getOrDefault(action, plain).times(factor);
      boolean isInLine = line && resolved.mode(limit) == LimitMode.ENFORCE;
      specs.put(
          action, spec(action, terms, Rate.perMinute(resolved.get(limit)), filling, isInLine));
    }
    buckets.forEach(
        (action, terms) -> {
          BucketTerms multiplied = terms.times(factor);
          multiplied
              .refill()
              .ifPresent(
                  refill -> specs.put(action, spec(action, multiplied, refill, filling, line)));
        });
    return specs;
  }

  private static BucketSpec spec(
      Action action, BucketTerms terms, Refill refill, FillPolicy filling, boolean line) {
    try {
      return terms.with(refill, filling, line);
    } catch (InvalidValue refused) {
      throw new InvalidValue(
          refused.field(), refused.value(), refused.expected() + " (bucket " + action + ")");
    }
  }

  /** This tier, as the version after the previous one. */
  public Tier withVersionAfter(long previousVersion) {
    return new Tier(
        name,
        isolation,
        limits,
        buckets,
        fillPolicy,
        onUnavailable,
        line,
        retreat,
        schedules,
        previousVersion + 1,
        Math.min(rolledOut, previousVersion));
  }

  /** Whether both have the same settings, apart from versions. */
  public boolean hasSameDefinitionAs(Tier other) {
    return name.equals(other.name)
        && isolation == other.isolation
        && limits.equals(other.limits)
        && buckets.equals(other.buckets)
        && fillPolicy.equals(other.fillPolicy)
        && onUnavailable == other.onUnavailable
        && line == other.line
        && schedules.equals(other.schedules)
        && retreat.map(Retreat::abovePercent).equals(other.retreat.map(Retreat::abovePercent));
  }

  /** This tier with observed limits in place of enforced ones. */
  public Tier retreatedAt(Instant now) {
    return with(
        limits.observed(),
        retreat.map(rule -> new Retreat(rule.abovePercent(), Optional.of(now))),
        schedules);
  }

  /** This tier with other scheduled limits. */
  public Tier with(LimitSchedules others) {
    return with(limits, retreat, others);
  }

  private Tier with(Limits others, Optional<Retreat> rule, LimitSchedules windows) {
    return new Tier(
        name,
        isolation,
        others,
        buckets,
        fillPolicy,
        onUnavailable,
        line,
        rule,
        windows,
        version,
        rolledOut);
  }
}

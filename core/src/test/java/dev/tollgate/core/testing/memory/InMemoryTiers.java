package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.RollOut;
import dev.tollgate.core.tenant.TenantRange;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Tiers in memory, with the default tiers at first. */
public final class InMemoryTiers implements Tiers {
  private final TreeMap<String, Tier> rows = new TreeMap<>();
  private final Map<TierName, RollOut> rollOuts = new HashMap<>();
  private final Outage outage = new Outage();
  private Optional<Release> release = Optional.empty();

  /** Creates the default tiers. */
  public InMemoryTiers() {
    Tier.DEFAULTS.forEach(tier -> rows.put(tier.name().value(), tier));
  }

  /** The outage of reads and writes. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized Optional<Tier> find(TierName name) {
    outage.check("find");
    return Optional.ofNullable(rows.get(name.value()));
  }

  @Override
  public synchronized Page<Tier> list() {
    outage.check("list");
    return new Page<>(List.copyOf(rows.values()), Optional.empty());
  }

  @Override
  public synchronized WriteResult put(Tier next) {
    outage.check("put");
    Tier before = rows.get(next.name().value());
    long version = before == null ? 0 : before.version();
    if (version != next.version() - 1) {
      return WriteResult.CONFLICT;
    }
    rows.put(next.name().value(), next);
    rollOuts.remove(next.name());
    return WriteResult.DONE;
  }

  @Override
  public synchronized Optional<RollOut> rollOut(TierName name) {
    outage.check("rollOut");
    return Optional.ofNullable(rows.get(name.value()))
        .map(tier -> rollOuts.getOrDefault(name, RollOut.of(tier)));
  }

  private boolean isCurrent(Tier tier) {
    Tier now = rows.get(tier.name().value());
    return now != null && now.version() == tier.version();
  }

  @Override
  public synchronized WriteResult moveOn(
      RollOut read,
      Optional<TenantId> walkedTo,
      boolean walked,
      Optional<TenantRange> handedOut,
      Map<TenantRange, Long> failed,
      Instant now) {
    outage.check("moveOn");
    TierName name = read.tier().name();
    RollOut stored = rollOuts.getOrDefault(name, RollOut.of(read.tier()));
    if (!isCurrent(read.tier()) || stored.walked() || !stored.walkedTo().equals(read.walkedTo())) {
      return WriteResult.CONFLICT;
    }
    Map<TenantRange, Instant> working = new HashMap<>(stored.handedOut());
    handedOut.ifPresent(range -> working.put(range, now));
    Map<TenantRange, Long> failing = new HashMap<>(stored.failed());
    failing.putAll(failed);
    rollOuts.put(name, new RollOut(stored.tier(), walkedTo, walked, working, failing));
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult handOutAgain(Tier tier, TenantRange range, Instant now) {
    outage.check("handOutAgain");
    RollOut stored = rollOuts.getOrDefault(tier.name(), RollOut.of(tier));
    if (!isCurrent(tier)
        || !(stored.handedOut().containsKey(range) || stored.failed().containsKey(range))) {
      return WriteResult.CONFLICT;
    }
    Map<TenantRange, Instant> working = new HashMap<>(stored.handedOut());
    working.put(range, now);
    Map<TenantRange, Long> failing = new HashMap<>(stored.failed());
    failing.remove(range);
    change(stored, working, failing);
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult close(
      Tier tier, TenantRange range, Map<TenantRange, Long> failed) {
    outage.check("close");
    RollOut stored = rollOuts.getOrDefault(tier.name(), RollOut.of(tier));
    if (!isCurrent(tier) || !stored.handedOut().containsKey(range)) {
      return WriteResult.CONFLICT;
    }
    Map<TenantRange, Instant> working = new HashMap<>(stored.handedOut());
    working.remove(range);
    Map<TenantRange, Long> failing = new HashMap<>(stored.failed());
    failing.putAll(failed);
    change(stored, working, failing);
    return WriteResult.DONE;
  }

  private void change(
      RollOut stored, Map<TenantRange, Instant> handedOut, Map<TenantRange, Long> failed) {
    rollOuts.put(
        stored.tier().name(),
        new RollOut(stored.tier(), stored.walkedTo(), stored.walked(), handedOut, failed));
  }

  @Override
  public synchronized void markRolledOut(TierName name, long version) {
    outage.check("markRolledOut");
    if (rows.containsKey(name.value()) && rows.get(name.value()).version() == version) {
      rollOuts.remove(name);
    }
    rows.computeIfPresent(
        name.value(),
        (key, tier) ->
            tier.version() != version
                ? tier
                : new Tier(
                    name,
                    tier.isolation(),
                    tier.limits(),
                    tier.buckets(),
                    tier.fillPolicy(),
                    tier.onUnavailable(),
                    tier.line(),
                    tier.retreat(),
                    tier.schedules(),
                    version,
                    version));
  }

  @Override
  public synchronized WriteResult remove(TierName name, long version) {
    outage.check("remove");
    Tier before = rows.get(name.value());
    if (before != null && before.version() != version) {
      return WriteResult.CONFLICT;
    }
    rows.remove(name.value());
    rollOuts.remove(name);
    return WriteResult.DONE;
  }

  @Override
  public synchronized Optional<Release> rolledOutRelease() {
    outage.check("rolledOutRelease");
    return release;
  }

  @Override
  public synchronized void markRolledOut(Release next) {
    outage.check("markRolledOut");
    release = Optional.of(next);
  }
}

package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Page;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Tiers in memory, with the default tiers at first. */
public final class InMemoryTiers implements Tiers {
  private final TreeMap<String, Tier> rows = new TreeMap<>();
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
    return WriteResult.DONE;
  }

  @Override
  public synchronized void markRolledOut(TierName name, long version) {
    outage.check("markRolledOut");
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

package dev.tollgate.controlplane.tiers;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.tenant.RollOut;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantRange;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Rolls the current version of a tier out to its tenants.
 *
 * <p>The sweep leads: it walks over the tier's tenants and hands range after range to further
 * invocations of itself, a few at a time. The tier's row records how far the walk has come, which
 * ranges are being worked on, and in which tenants failed ({@link RollOut}). So the next sweep
 * continues where this one stopped. A range whose worker crashed is handed out again, and so is,
 * once in each sweep, a range in which tenants failed. Neither stops the others. The tier counts as
 * rolled out when the walk has reached its end and every range is finished.
 *
 * <p>The request that changes a tier rolls it out to its first tenants itself, which are often all.
 * The sweep rolls a tier out alone, too, if one page contains all tenants.
 *
 * <p>If the tier changes again, the new version's walk begins anew and the previous roll-out stops:
 * before each few tenants, after it has read them, a worker checks that its version is still the
 * current one.
 */
public final class TierRollOut {
  /** The most tenants of a range: as many as a page of DynamoDB can have. */
  public static final int MAX_RANGE = 1_000;

  /**
   * The ranges that are worked on at a time. With 16 tenants each, that is more than one partition
   * of the index of a tier's tenants takes: 1,000 writes a second.
   */
  static final int MAX_HANDED_OUT = 6;

  /** The most unfinished ranges; beyond them the walk waits. The tier's row must hold them. */
  static final int MAX_OPEN = 200;

  /** The time after which a worker has finished or crashed: longer than the function's time-out. */
  static final Duration WORKER_TIME = Duration.ofSeconds(60);

  /** The most tenants that are visited by the request that changes a tier. */
  private static final int IN_REQUEST = 100;

  /** The most failed tenants that the sweep visits itself; more are handed out. */
  private static final int FEW = 100;

  /** The tenants between two checks of the tier's version. */
  private static final int BATCH = 128;

  /** The most parts of a range in which tenants failed; more are recorded as one. */
  private static final int MAX_FAILED = 10;

  /** The usual delay of the index that lists a tier's tenants (a DynamoDB secondary index). */
  private static final Duration INDEX_DELAY = Duration.ofSeconds(1);

  private static final Duration POLL = Duration.ofMillis(250);
  private static final String TASK = "rollOut";

  private final int rangeSize;
  private final Tenants tenants;
  private final Tiers tiers;
  private final TenantLifecycle lifecycle;
  private final ParallelTasks parallel;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * Roll-outs of tiers.
   *
   * @param rangeSize the tenants of a range, at most {@link #MAX_RANGE}
   * @param parallel visits the tenants of a range
   */
  public TierRollOut(
      int rangeSize,
      Tenants tenants,
      Tiers tiers,
      TenantLifecycle lifecycle,
      ParallelTasks parallel,
      Pause pause,
      InstantSource clock) {
    this.rangeSize = rangeSize;
    this.tenants = tenants;
    this.tiers = tiers;
    this.lifecycle = lifecycle;
    this.parallel = parallel;
    this.pause = pause;
    this.clock = clock;
  }

  /** Whether all tenants of the tier follow its current version. */
  public static boolean isRolledOut(Tier tier) {
    return tier.rolledOut() >= tier.version();
  }

  /**
   * Rolls a tier out to its first tenants, and to those that failed before.
   *
   * @return whether all tenants follow this version; if not, the sweep continues
   */
  public boolean begin(Tier tier, Invocation invocation) {
    return new Walk(tier, Math.min(rangeSize, IN_REQUEST), Optional.empty(), invocation).run();
  }

  /**
   * Continues a roll-out until it is finished or the time is over.
   *
   * @param others work on ranges
   * @return whether all tenants follow this version
   */
  public boolean resume(Tier tier, SelfInvocation<Chunk> others, Invocation invocation) {
    return new Walk(tier, rangeSize, Optional.of(others), invocation).run();
  }

  /** Works on a range that {@link #resume} handed out; does nothing with other chunks. */
  public void work(Chunk chunk, Invocation invocation) {
    String[] task = chunk.task().split(":", -1);
    if (!task[0].equals(TASK) || task.length != 3 || chunk.upTo().isEmpty()) {
      invocation.log("unknown chunk: " + chunk.task());
      return;
    }
    Optional<Tier> tier =
        tiers
            .find(new TierName(task[1]))
            .filter(found -> Long.toString(found.version()).equals(task[2]));
    if (tier.isPresent()) {
      TenantRange range = new TenantRange(chunk.after(), chunk.upTo().get());
      visit(tier.get(), range, invocation)
          .ifPresent(failed -> tiers.close(tier.get(), range, failed));
    }
  }

  /** The tenants of a page in the order of their ids; empty for a row that cannot be read. */
  private static NavigableMap<String, Optional<Tenant>> byId(Page<Tenant> page) {
    NavigableMap<String, Optional<Tenant>> byId = new TreeMap<>();
    page.items().forEach(tenant -> byId.put(tenant.id().value(), Optional.of(tenant)));
    page.unreadable().forEach(row -> byId.put(row.name(), Optional.empty()));
    return byId;
  }

  /**
   * Applies a tier to the tenants of a range.
   *
   * @return the parts in which tenants failed, with their number; empty if the tier has changed
   */
  private Optional<Map<TenantRange, Long>> visit(
      Tier tier, TenantRange range, Invocation invocation) {
    Failures failures = new Failures(range.after());
    Optional<String> cursor = range.after().map(TenantId::value);
    do {
      Page<Tenant> page = tenants.inTier(tier.name(), cursor, rangeSize);
      if (!visit(tier, page, range, failures, invocation)) {
        return Optional.empty();
      }
      cursor = page.next().filter(next -> next.compareTo(range.upTo().value()) < 0);
    } while (cursor.isPresent());
    return Optional.of(failures.ranges());
  }

  /** Visits the tenants of a page that are in the range; returns whether the tier is unchanged. */
  private boolean visit(
      Tier tier, Page<Tenant> page, TenantRange range, Failures failures, Invocation invocation) {
    page.unreadable().forEach(row -> invocation.log(row.reason()));
    NavigableMap<String, Optional<Tenant>> listed = byId(page);
    List<String> ids = List.copyOf(listed.headMap(range.upTo().value(), true).keySet());
    for (int from = 0; from < ids.size(); from += BATCH) {
      List<String> batch = ids.subList(from, Math.min(from + BATCH, ids.size()));
      if (!invocation.isOver() && !lifecycle.isCurrent(tier)) {
        return false;
      }
      List<Tenant> readable = batch.stream().map(listed::get).flatMap(Optional::stream).toList();
      Set<String> following =
          parallel
              .succeeded(
                  readable,
                  tenant -> lifecycle.follow(tenant, tier, invocation).isPresent(),
                  invocation)
              .stream()
              .map(tenant -> tenant.id().value())
              .collect(Collectors.toSet());
      batch.forEach(id -> failures.add(new TenantId(id), following.contains(id)));
    }
    return true;
  }

  /** Collects the parts of a range in which tenants failed. */
  private static final class Failures {
    /** Adjacent tenants that failed. */
    private record Part(TenantRange range, long tenants) {
      private Part through(TenantId id) {
        return new Part(new TenantRange(range.after(), id), tenants + 1);
      }
    }

    private final Deque<Part> parts = new ArrayDeque<>();
    private Optional<TenantId> before;
    private boolean failing;

    /** Failures of the tenants after this id. */
    private Failures(Optional<TenantId> after) {
      this.before = after;
    }

    /** Adds the next tenant. */
    private void add(TenantId id, boolean follows) {
      if (!follows) {
        parts.add(
            failing ? parts.removeLast().through(id) : new Part(new TenantRange(before, id), 1));
      }
      failing = !follows;
      before = Optional.of(id);
    }

    private Map<TenantRange, Long> ranges() {
      return parts.size() > MAX_FAILED
          ? Map.of(
              new TenantRange(parts.getFirst().range().after(), parts.getLast().range().upTo()),
              parts.stream().mapToLong(Part::tenants).sum())
          : parts.stream().collect(Collectors.toMap(Part::range, Part::tenants));
    }
  }

  /** The part of one invocation in leading a roll-out. */
  private final class Walk {
    private final Tier tier;
    private final int pageSize;
    private final Optional<SelfInvocation<Chunk>> others;
    private final Invocation invocation;
    private final Set<TenantRange> repeated = new HashSet<>();

    private Walk(
        Tier tier, int pageSize, Optional<SelfInvocation<Chunk>> others, Invocation invocation) {
      this.tier = tier;
      this.pageSize = pageSize;
      this.others = others;
      this.invocation = invocation;
    }

    private boolean run() {
      pause.of(INDEX_DELAY);
      try {
        boolean more = true;
        while (more && !invocation.isOver()) {
          Optional<RollOut> found =
              tiers
                  .rollOut(tier.name())
                  .filter(rollOut -> rollOut.tier().version() == tier.version());
          if (found.isEmpty()) {
            return false;
          }
          RollOut rollOut = found.get();
          if (isRolledOut(rollOut.tier())) {
            return true;
          }
          if (rollOut.isFinished()) {
            tiers.markRolledOut(tier.name(), tier.version());
            return true;
          }
          more = step(rollOut);
        }
        return false;
      } catch (Unavailable unavailable) {
        return notRolledOut(unavailable.reason());
      } catch (UnreadableRow unreadable) {
        return notRolledOut(unreadable.reason());
      } catch (InvalidValue invalid) {
        return notRolledOut(invalid.logged());
      }
    }

    private boolean notRolledOut(String reason) {
      invocation.log("tier " + tier.name() + ": not rolled out: " + reason);
      return false;
    }

    /** Does the next thing; returns whether there may be more to do for this invocation. */
    private boolean step(RollOut rollOut) {
      Optional<TenantRange> lost = lost(rollOut);
      if (lost.isPresent()) {
        return repeat(lost.get(), false);
      }
      Optional<Map.Entry<TenantRange, Long>> failed =
          rollOut.failed().entrySet().stream()
              .filter(entry -> !repeated.contains(entry.getKey()))
              .min(Comparator.comparing(entry -> entry.getKey().upTo().value()));
      if (failed.isPresent()) {
        repeated.add(failed.get().getKey());
        return repeat(failed.get().getKey(), failed.get().getValue() <= FEW);
      }
      int open = rollOut.handedOut().size() + rollOut.failed().size();
      if (!rollOut.walked()
          && open < MAX_OPEN
          && (others.isEmpty() || rollOut.handedOut().size() < MAX_HANDED_OUT)) {
        return moveOn(rollOut);
      }
      if (others.isEmpty() || rollOut.handedOut().isEmpty()) {
        return false;
      }
      pause.of(POLL);
      return true;
    }

    /** The range that was handed out first, if its worker must have crashed. */
    private Optional<TenantRange> lost(RollOut rollOut) {
      Instant now = clock.instant();
      return rollOut.handedOut().entrySet().stream()
          .filter(range -> !range.getValue().plus(WORKER_TIME).isAfter(now))
          .min(Map.Entry.comparingByValue())
          .map(Map.Entry::getKey);
    }

    private boolean repeat(TenantRange range, boolean few) {
      if (others.isEmpty() && !few) {
        return false;
      }
      if (tiers.handOutAgain(tier, range, clock.instant()) != WriteResult.DONE) {
        return true;
      }
      if (few) {
        Optional<Map<TenantRange, Long>> failed = visit(tier, range, invocation);
        failed.ifPresent(
            parts -> {
              repeated.addAll(parts.keySet());
              tiers.close(tier, range, parts);
            });
        return failed.isPresent();
      }
      send(range);
      return true;
    }

    private void send(TenantRange range) {
      others
          .orElseThrow()
          .send(
              new Chunk(
                  TASK + ":" + tier.name() + ":" + tier.version(),
                  range.after(),
                  Optional.of(range.upTo()),
                  1));
    }

    private boolean moveOn(RollOut rollOut) {
      Page<Tenant> page =
          tenants.inTier(tier.name(), rollOut.walkedTo().map(TenantId::value), pageSize);
      Collection<String> ids = byId(page).keySet();
      Optional<TenantId> last =
          page.next().or(() -> ids.stream().reduce((a, b) -> b)).map(TenantId::new);
      boolean walked = page.next().isEmpty();
      if (last.isEmpty()) {
        return moveOn(rollOut, rollOut.walkedTo(), walked, Optional.empty(), Map.of());
      }
      TenantRange range = new TenantRange(rollOut.walkedTo(), last.get());
      boolean alone = others.isEmpty() || (walked && rollOut.handedOut().isEmpty());
      if (alone) {
        Failures failures = new Failures(range.after());
        if (!visit(tier, page, range, failures, invocation)) {
          return false;
        }
        Map<TenantRange, Long> failed = failures.ranges();
        repeated.addAll(failed.keySet());
        return moveOn(rollOut, last, walked, Optional.empty(), failed)
            && (walked || others.isPresent());
      }
      if (moveOn(rollOut, last, walked, Optional.of(range), Map.of())) {
        send(range);
      }
      return true;
    }

    private boolean moveOn(
        RollOut rollOut,
        Optional<TenantId> walkedTo,
        boolean walked,
        Optional<TenantRange> handedOut,
        Map<TenantRange, Long> failed) {
      return tiers.moveOn(rollOut, walkedTo, walked, handedOut, failed, clock.instant())
          == WriteResult.DONE;
    }
  }
}

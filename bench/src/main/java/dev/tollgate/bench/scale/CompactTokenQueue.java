package dev.tollgate.bench.scale;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Token queues that count tokens instead of keeping each: tokens that become visible together are
 * one entry, and so are those that have been visible for a minute, which count as minted with the
 * newest of them. Tokens do not expire within the hour of a simulation.
 */
final class CompactTokenQueue implements TokenQueue {
  private static final Duration LONGEST_INVOCATION = Duration.ofMinutes(1);

  private final InstantSource clock;
  private final Map<BucketId, State> queues = new HashMap<>();
  private long receipts;

  CompactTokenQueue(InstantSource clock) {
    this.clock = clock;
  }

  private static final class State {
    private final List<Group> free = new ArrayList<>();
    private final Map<String, Lease> held = new HashMap<>();

    void add(Instant visibleFrom, Instant mintedAt, long count) {
      for (Group group : free) {
        if (group.visibleFrom.equals(visibleFrom) && group.mintedAt.equals(mintedAt)) {
          group.count += count;
          return;
        }
      }
      free.add(new Group(visibleFrom, mintedAt, count));
    }

    void endLeases(Instant now) {
      if (!held.isEmpty()) {
        held.values()
            .removeIf(
                lease -> {
                  boolean ended = !lease.holdsAt(now);
                  if (ended) {
                    add(lease.endsAt(), lease.mintedAt(), 1);
                  }
                  return ended;
                });
      }
    }

    /** Merges what has been visible for so long that no running invocation began before. */
    void merge(Instant now) {
      Instant old = now.minus(LONGEST_INVOCATION);
      if (free.size() < 2 || free.get(1).visibleFrom.isAfter(old)) {
        return;
      }
      long visible = 0;
      Instant newest = Instant.EPOCH;
      for (Group group : free) {
        if (!group.visibleFrom.isAfter(old)) {
          visible += group.count;
          newest = group.mintedAt.isAfter(newest) ? group.mintedAt : newest;
        }
      }
      free.removeIf(group -> !group.visibleFrom.isAfter(old));
      free.add(0, new Group(old, newest, visible));
    }

    /** Takes up to {@code max} visible tokens; returns when each was minted. */
    List<Instant> take(long max, Instant now) {
      List<Instant> taken = new ArrayList<>();
      for (Group group : free) {
        while (taken.size() < max && group.count > 0 && !group.visibleFrom.isAfter(now)) {
          group.count--;
          taken.add(group.mintedAt);
        }
      }
      free.removeIf(group -> group.count == 0);
      return taken;
    }
  }

  private static final class Group {
    private final Instant visibleFrom;
    private final Instant mintedAt;
    private long count;

    private Group(Instant visibleFrom, Instant mintedAt, long count) {
      this.visibleFrom = visibleFrom;
      this.mintedAt = mintedAt;
      this.count = count;
    }
  }

  private State state(BucketId bucket) {
    State state =
        Optional.ofNullable(queues.get(bucket)).orElseThrow(() -> new MissingQueue(bucket));
    state.endLeases(clock.instant());
    state.merge(clock.instant());
    return state;
  }

  /** Creates the queue of a bucket, unless it exists. */
  void create(BucketId bucket) {
    queues.putIfAbsent(bucket, new State());
  }

  /** Adds or removes visible tokens as clients would that are not part of the simulation. */
  void change(BucketId bucket, long tokens) {
    Instant now = clock.instant();
    if (tokens < 0) {
      state(bucket).take(-tokens, now);
    } else {
      state(bucket).add(second(now), second(now), tokens);
    }
  }

  private static Instant second(Instant instant) {
    return Instant.ofEpochSecond(instant.getEpochSecond());
  }

  @Override
  public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
    State state = state(bucket);
    Instant end = clock.instant().plus(lease);
    List<Lease> leases = new ArrayList<>();
    for (Instant mintedAt : state.take(max, clock.instant())) {
      Lease next = new Lease("r" + ++receipts, end, mintedAt);
      state.held.put(next.receipt(), next);
      leases.add(next);
    }
    return leases;
  }

  @Override
  public List<Lease> settle(BucketId bucket, List<Lease> leases) {
    State state = state(bucket);
    return leases.stream().filter(lease -> state.held.remove(lease.receipt()) == null).toList();
  }

  @Override
  public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
    State state = state(bucket);
    Instant now = clock.instant();
    return leases.stream()
        .filter(
            lease -> {
              boolean gone = state.held.remove(lease.receipt()) == null;
              if (!gone) {
                state.add(now, lease.mintedAt(), 1);
              }
              return gone;
            })
        .toList();
  }

  @Override
  public List<Token> put(BucketId bucket, List<Token> tokens) {
    State state = state(bucket);
    Instant now = clock.instant();
    for (Token token : tokens) {
      long delay = Math.max(0, Duration.between(now, token.dueAt()).toMillis());
      state.add(now.plusSeconds((delay + 999) / 1_000), token.mintedAt(), 1);
    }
    return List.of();
  }

  @Override
  public Level countTokens(BucketId bucket) {
    State state = state(bucket);
    Instant now = clock.instant();
    long visible = 0;
    long delayed = 0;
    for (Group group : state.free) {
      if (group.visibleFrom.isAfter(now)) {
        delayed += group.count;
      } else {
        visible += group.count;
      }
    }
    return new Level(visible, delayed, state.held.size());
  }
}

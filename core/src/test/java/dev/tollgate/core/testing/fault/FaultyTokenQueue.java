package dev.tollgate.core.testing.fault;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * A token queue that suffers {@link BucketFaults} as SQS may, and counts what really happened. Two
 * of them wrap one queue: one for spending tokens, one for fills.
 */
public final class FaultyTokenQueue implements TokenQueue {
  private static final Duration STALENESS = Duration.ofSeconds(59);

  private final TokenQueue queue;
  private final BucketFaults faults;
  private final InstantSource clock;
  private final ToLongFunction<BucketId> fillSize;
  private final Map<BucketId, Long> put = new HashMap<>();
  private final Map<BucketId, Long> settled = new HashMap<>();
  private final Map<BucketId, Long> requests = new HashMap<>();
  private final Map<BucketId, Long> failedReserves = new HashMap<>();
  private final Map<BucketId, LastLevel> levels = new HashMap<>();

  private record LastLevel(Instant at, Level level) {}

  /**
   * Wraps {@code queue}.
   *
   * @param fillSize the most tokens that one fill adds to a bucket
   */
  public FaultyTokenQueue(
      TokenQueue queue,
      BucketFaults faults,
      InstantSource clock,
      ToLongFunction<BucketId> fillSize) {
    this.queue = queue;
    this.faults = faults;
    this.clock = clock;
    this.fillSize = fillSize;
  }

  /** The number of tokens put through this queue. */
  public long put(BucketId id) {
    return put.getOrDefault(id, 0L);
  }

  /** The number of tokens settled through this queue, whether or not the answer was lost. */
  public long settled(BucketId id) {
    return settled.getOrDefault(id, 0L);
  }

  /** The number of failed requests for tokens. */
  public long failedReserves(BucketId id) {
    return failedReserves.getOrDefault(id, 0L);
  }

  /** The number of requests. */
  public long requests(BucketId id) {
    return requests.getOrDefault(id, 0L);
  }

  /**
   * Is sometimes falsely empty. A short poll samples the servers. A long poll asks all of them and
   * is falsely empty so rarely that the fault explains all tokens of the next fill.
   */
  @Override
  public List<Lease> reserve(BucketId id, int max, Duration lease, Search search) {
    requests.merge(id, 1L, Long::sum);
    if (faults.strikes(id, BucketFaults.Kind.FALSELY_EMPTY)) {
      if (search == Search.LONG) {
        faults.explain(id, fillSize.applyAsLong(id));
      }
      return List.of();
    }
    try {
      return faults.ask(
          id,
          BucketFaults.Kind.SQS_THROTTLED,
          "reserve",
          () -> queue.reserve(id, max, lease, search));
    } catch (Unavailable unanswered) {
      failedReserves.merge(id, 1L, Long::sum);
      throw unanswered;
    }
  }

  /** Sometimes settles only some of the tokens, or delivers a copy of a settled token again. */
  @Override
  public List<Lease> settle(BucketId id, List<Lease> leases) {
    requests.merge(id, 1L, Long::sum);
    boolean partial = !leases.isEmpty() && faults.strikes(id, BucketFaults.Kind.PARTIAL_SETTLE);
    List<Lease> attempted = partial ? leases.subList(1, leases.size()) : leases;
    return faults.ask(
        id,
        BucketFaults.Kind.SQS_THROTTLED,
        "settle",
        () -> {
          List<Lease> unspent = queue.settle(id, attempted);
          settled.merge(id, (long) attempted.size() - unspent.size(), Long::sum);
          if (attempted.size() > unspent.size() && faults.strikes(id, BucketFaults.Kind.COPY)) {
            faults.explain(id, 1);
            put.merge(id, 1L, Long::sum);
            Instant mintedAt = attempted.get(0).mintedAt();
            queue.put(id, List.of(new Token("copy", id, mintedAt, clock.instant())));
          }
          return partial ? leases.subList(0, 1) : unspent;
        });
  }

  @Override
  public List<Lease> giveBack(BucketId id, List<Lease> leases) {
    requests.merge(id, 1L, Long::sum);
    return faults.ask(
        id, BucketFaults.Kind.SQS_THROTTLED, "giveBack", () -> queue.giveBack(id, leases));
  }

  /** Sometimes puts only some of the tokens. */
  @Override
  public List<Token> put(BucketId id, List<Token> tokens) {
    requests.merge(id, 1L, Long::sum);
    boolean partial = !tokens.isEmpty() && faults.strikes(id, BucketFaults.Kind.PARTIAL_PUT);
    int from = partial ? faults.random(id).nextInt(tokens.size()) : 0;
    return faults.ask(
        id,
        BucketFaults.Kind.SQS_THROTTLED,
        "put",
        () -> {
          List<Token> attempted = tokens.subList(from, tokens.size());
          int unsent = queue.put(id, attempted).size();
          put.merge(id, (long) attempted.size() - unsent, Long::sum);
          return tokens.subList(0, from);
        });
  }

  /**
   * Is sometimes up to a minute stale, so that a fill may add tokens that the queue already holds.
   */
  @Override
  public Level countTokens(BucketId id) {
    requests.merge(id, 1L, Long::sum);
    Level level =
        faults.ask(id, BucketFaults.Kind.SQS_THROTTLED, "level", () -> queue.countTokens(id));
    LastLevel last = levels.getOrDefault(id, new LastLevel(Instant.MIN, new Level(0, 0, 0)));
    levels.put(id, new LastLevel(clock.instant(), level));
    boolean isRecent = last.at().isAfter(clock.instant().minus(STALENESS.multipliedBy(2)));
    if (isRecent && faults.strikes(id, BucketFaults.Kind.STALE_LEVEL)) {
      faults.explain(id, Math.max(0, level.tokens() - last.level().tokens()));
      return last.level();
    }
    return level;
  }
}

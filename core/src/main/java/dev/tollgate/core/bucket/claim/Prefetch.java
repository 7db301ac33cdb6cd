package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Prefetches tokens for the claims of a process: one request receives up to ten, another one spends
 * them, and the claims that follow take them from memory.
 *
 * <h2>Spent before a claim gets it</h2>
 *
 * The prefetched tokens of a bucket are leased or spent. A claim gets a spent token, so a process
 * that ends admits nobody too many: its leased tokens return to the bucket, and its spent ones are
 * lost. A process prefetches no more tokens of a bucket than were claimed in the last seconds. If
 * as many were claimed in the last fifth of a second as it can receive, it spends all of them at
 * once; else half as many as were claimed in that time, so that few are lost when claims stop.
 * Spent tokens cannot be returned, because no application may add tokens to a bucket; nor can they
 * be used after {@link #LIFE}. Leased tokens are returned {@link #LIFE} after they were received.
 *
 * <h2>Never more than the bucket</h2>
 *
 * A prefetched token is spent a while before its caller is admitted, and a fill may replace it in
 * between. All the same, in any time at most {@code capacity + rate × time + one minute's tokens}
 * are admitted. Let S be the tokens in the bucket, those that it is owed, and those that all
 * processes have prefetched: what could be admitted at this instant if a fill came now. S grows at
 * the rate, a fill or a claim moves tokens within S, and an admission lowers it. So the bound holds
 * if S is never more than {@code capacity + one minute's tokens}. Without prefetching, the ledger
 * ensures that. With it, consider the oldest unused spent token, and the row that its process had
 * read before. The fill of that row left L tokens in the bucket, and owed it O. Every token that is
 * prefetched now was in the bucket then, or was added since. So S is at most L + O, and what has
 * accrued since. Therefore a process spends more than one token ahead only if this sum will be
 * within the bound when its tokens are {@link #LIFE} old ({@link Bucket#keepsBoundUntil}), and uses
 * none that are older. How old the row is does not matter. If a bucket was full at its last fill,
 * no token is spent ahead in the last seconds of the minute.
 *
 * <h2>Nobody goes short</h2>
 *
 * Tokens are prefetched only from a bucket that is at least half full by its row, and in whose line
 * nobody waits ({@link dev.tollgate.core.bucket.Forecast#allowsPrefetch}). After a receive that
 * returned fewer tokens than requested, each claim of the process asks the queue itself for {@link
 * #LIFE}. A row is reused only if its line was never used, see {@link CachedClaims}.
 */
public final class Prefetch {
  /** How long spent tokens are used, and leased ones kept. */
  static final Duration LIFE = Duration.ofSeconds(2);

  /** Tokens are spent ahead by how many were claimed in this time. */
  private static final Duration BURST = Duration.ofMillis(200);

  /** How long tokens are leased: spending them may take as long as requests are repeated. */
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** How much the clocks of this process and of the token producer may differ. */
  private static final Duration SKEW = Duration.ofMillis(250);

  private static final int MAX_BUCKETS = 10_000;

  private final TokenQueue queue;
  private final HeldTokens held;
  private final int size;
  private final Timer timer;
  private final InstantSource clock;
  private final Map<BucketId, Tokens> buckets = new RecentlyUsedMap<>(MAX_BUCKETS);

  private volatile boolean isClosed;

  /** Runs work later. */
  public interface Timer {
    /** Runs {@code work} after this time. */
    void after(Duration time, Runnable work);
  }

  /**
   * A prefetch without tokens.
   *
   * @param size the most tokens of one receive, 1 to 10
   * @param timer runs the requests that return tokens
   */
  public Prefetch(TokenQueue queue, HeldTokens held, int size, Timer timer, InstantSource clock) {
    this.queue = queue;
    this.held = held;
    this.size = size;
    this.timer = timer;
    this.clock = clock;
  }

  /**
   * Takes a spent token, if one is prefetched or some may be.
   *
   * @param row reads the bucket's row, or returns a recent one in whose line nobody ever waited
   * @return whether the caller is admitted; if not, it claims a token itself
   */
  boolean take(BucketId id, Supplier<Bucket> row) {
    return !isClosed && tokens(id).take(row);
  }

  private synchronized Tokens tokens(BucketId id) {
    return buckets.computeIfAbsent(id, Tokens::new);
  }

  /** Returns the leased tokens. Claims get no tokens from then on. */
  void close() {
    isClosed = true;
    List<Tokens> all;
    synchronized (this) {
      all = List.copyOf(buckets.values());
    }
    all.forEach(tokens -> tokens.giveBackUntil(Instant.MAX));
  }

  /** The prefetched tokens of one bucket. */
  private final class Tokens {
    private final BucketId id;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition refilled = lock.newCondition();

    /** When each spent token must have been used. */
    private final Deque<Instant> spent = new ArrayDeque<>();

    private final Deque<Leased> leased = new ArrayDeque<>();

    /** When the last claims came, as many as tokens can be prefetched. */
    private final Deque<Instant> claims = new ArrayDeque<>();

    private Instant pausedUntil = Instant.MIN;
    private int refills;
    private int waiting;
    private long failures;

    private record Leased(Lease lease, Instant since) {}

    Tokens(BucketId id) {
      this.id = id;
    }

    boolean take(Supplier<Bucket> row) {
      lock.lock();
      try {
        claims.add(clock.instant());
        if (claims.size() > size) {
          claims.remove();
        }
        long before = failures;
        while (isEmpty() && isServedByRefill()) {
          waiting++;
          refilled.awaitUninterruptibly();
          waiting--;
          if (failures != before) {
            return false;
          }
        }
        if (spent.poll() != null) {
          return true;
        }
        refills++;
      } finally {
        lock.unlock();
      }
      List<Instant> more = List.of();
      try {
        more = refill(row);
      } catch (Unavailable unavailable) {
        // The claim finds that out itself.
      } finally {
        endRefill(more);
      }
      return !more.isEmpty();
    }

    /** Whether it has no spent token now. */
    private boolean isEmpty() {
      Instant now = clock.instant();
      while (!spent.isEmpty() && !now.isBefore(spent.element())) {
        spent.remove();
      }
      return spent.isEmpty();
    }

    private boolean isServedByRefill() {
      return waiting < refills * (size - 1);
    }

    /** Keeps the tokens of a refill, except that of the caller which refilled. */
    private void endRefill(List<Instant> more) {
      lock.lock();
      try {
        refills--;
        failures += more.isEmpty() ? 1 : 0;
        more.stream().skip(1).forEach(spent::add);
        refilled.signalAll();
      } finally {
        lock.unlock();
      }
    }

    /** Spends leased tokens, or receives and spends some; returns when each must be used. */
    private List<Instant> refill(Supplier<Bucket> row) {
      int expected = claimedWithin(LIFE);
      Instant now = clock.instant();
      if (!hasLeased() && (expected < 2 || now.isBefore(pausedUntil))) {
        return List.of();
      }
      Bucket read = row.get();
      if (!read.at(now).allowsPrefetch()) {
        giveBackUntil(Instant.MAX);
        return List.of();
      }
      Instant end = clock.instant().plus(LIFE);
      int most = read.keepsBoundUntil(end.plus(SKEW)) ? ahead(claimedWithin(BURST)) : 1;
      List<Lease> some = leased(most);
      if (some.isEmpty()) {
        receive(expected);
        some = leased(most);
      }
      int count = held.settleSome(new ClaimResult.Granted(id, some));
      return Collections.nCopies(count, end);
    }

    private int ahead(int claimed) {
      return claimed < size ? Math.max(1, claimed / 2) : size;
    }

    private void receive(int wanted) {
      Instant now = clock.instant();
      List<Lease> found = queue.reserve(id, wanted, LEASE, TokenQueue.Search.SHORT);
      lock.lock();
      try {
        found.forEach(lease -> leased.add(new Leased(lease, now)));
        pausedUntil = found.size() < wanted ? now.plus(LIFE) : pausedUntil;
      } finally {
        lock.unlock();
      }
      timer.after(LIFE, () -> giveBackUntil(clock.instant().minus(LIFE)));
    }

    private int claimedWithin(Duration time) {
      Instant since = clock.instant().minus(time);
      lock.lock();
      try {
        return (int) claims.stream().filter(at -> !at.isBefore(since)).count();
      } finally {
        lock.unlock();
      }
    }

    private boolean hasLeased() {
      lock.lock();
      try {
        return !leased.isEmpty();
      } finally {
        lock.unlock();
      }
    }

    private List<Lease> leased(int most) {
      lock.lock();
      try {
        List<Lease> some = new ArrayList<>();
        while (some.size() < most && !leased.isEmpty()) {
          some.add(leased.remove().lease());
        }
        return some;
      } finally {
        lock.unlock();
      }
    }

    /** Returns the leased tokens received at {@code last} or before. */
    private void giveBackUntil(Instant last) {
      List<Lease> old = new ArrayList<>();
      lock.lock();
      try {
        while (!leased.isEmpty() && !leased.element().since().isAfter(last)) {
          old.add(leased.remove().lease());
        }
      } finally {
        lock.unlock();
      }
      if (!old.isEmpty()) {
        held.giveBack(new ClaimResult.Granted(id, old));
      }
    }
  }
}

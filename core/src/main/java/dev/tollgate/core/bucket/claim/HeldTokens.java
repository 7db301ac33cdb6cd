package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/** What becomes of tokens that a claim holds: they are spent, or given back, or put back. */
public final class HeldTokens {
  private final Buckets buckets;
  private final TokenQueue queue;
  private final InstantSource clock;

  /** Tokens that lie in {@code queue}, of buckets that are written down in {@code buckets}. */
  public HeldTokens(Buckets buckets, TokenQueue queue, InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
    this.clock = clock;
  }

  /** Spends what is held, if the queue confirms it before the lease ends. */
  public SettleResult settle(ClaimResult.Granted granted) {
    if (!clock.instant().isBefore(granted.endsAt())) {
      return new SettleResult.Lapsed();
    }
    try {
      List<Lease> unspent = queue.settle(granted.bucket(), granted.leases());
      if (!clock.instant().isBefore(granted.endsAt())) {
        return new SettleResult.Lapsed();
      }
      return unspent.isEmpty()
          ? new SettleResult.Spent()
          : new SettleResult.NotSpent(
              unspent.size() + " of " + granted.leases().size() + " tokens could not be spent");
    } catch (MissingQueue missing) {
      return new SettleResult.NotSpent(missing.reason());
    } catch (Unavailable unavailable) {
      return new SettleResult.Unanswered(unavailable.reason());
    }
  }

  /** Gives back what is held; what cannot be given back returns when its lease ends. */
  public void giveBack(ClaimResult.Granted granted) {
    unlessUnavailable(() -> queue.giveBack(granted.bucket(), granted.leases()));
  }

  private static void unlessUnavailable(Runnable request) {
    try {
      request.run();
    } catch (Unavailable ignored) {
      return;
    }
  }

  /**
   * Puts fresh tokens in for n that were spent in vain, for anybody to claim at once. Those that
   * cannot be put are lost, as they would be in a crash.
   *
   * @param n 1 or more
   */
  public void putBack(BucketId id, int n) {
    Instant now = clock.instant();
    List<Token> fresh =
        IntStream.range(0, n)
            .mapToObj(i -> new Token(UUID.randomUUID().toString(), id, now, now))
            .toList();
    unlessUnavailable(() -> queue.put(id, fresh));
    // A put that was not answered may have been done.
    unlessUnavailable(() -> buckets.forgetEmpty(id));
  }
}

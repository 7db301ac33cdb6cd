package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;

/** Spends, returns or replaces tokens that a claim holds. */
public final class HeldTokens {
  private final Buckets buckets;
  private final TokenQueue queue;
  private final InstantSource clock;

  /** Tokens in {@code queue} of the buckets in {@code buckets}. */
  public HeldTokens(Buckets buckets, TokenQueue queue, InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
    this.clock = clock;
  }

  /**
   * Spends held tokens. They count as spent only if the queue confirms it before the lease ends.
   */
  public SettleResult settle(ClaimResult.Granted granted) {
    if (!clock.instant().isBefore(granted.endsAt())) {
      return new SettleResult.Lapsed(false);
    }
    try {
      List<Lease> unspent = queue.settle(granted.bucket(), granted.leases());
      int all = granted.leases().size();
      if (!clock.instant().isBefore(granted.endsAt())) {
        return new SettleResult.Lapsed(unspent.size() < all);
      }
      if (unspent.isEmpty()) {
        return new SettleResult.Spent();
      }
      String cause = unspent.size() + " of " + all + " tokens could not be spent";
      return unspent.size() == all
          ? new SettleResult.NotSpent(cause)
          : new SettleResult.Unanswered(cause);
    } catch (MissingQueue | NoCredentials notSent) {
      return new SettleResult.NotSpent(notSent.reason());
    } catch (Unavailable unavailable) {
      return new SettleResult.Unanswered(unavailable.reason());
    }
  }

  /**
   * Spends the tokens of a claim, if it is granted. Returns those that certainly were not spent.
   */
  public ClaimResult spend(ClaimResult claim) {
    if (!(claim instanceof ClaimResult.Granted granted)) {
      return claim;
    }
    SettleResult settlement = settle(granted);
    if (settlement instanceof SettleResult.Spent) {
      return granted;
    }
    if (settlement instanceof SettleResult.Unanswered unanswered) {
      return new ClaimResult.Undecided(unanswered.cause(), true);
    }
    if (settlement instanceof SettleResult.Lapsed lapsed && lapsed.maySpend()) {
      return new ClaimResult.Undecided("the lease ended before the queue responded", true);
    }
    giveBack(granted);
    // What could not be returned returns when its lease ends.
    Instant now = clock.instant();
    return new ClaimResult.Denied(granted.endsAt().isAfter(now) ? granted.endsAt() : now);
  }

  /** Spends the held tokens; returns how many were certainly spent. */
  int settleSome(ClaimResult.Granted found) {
    if (found.leases().isEmpty()) {
      return 0;
    }
    int all = found.leases().size();
    int unspent =
        Unavailable.orEmpty(() -> Optional.of(queue.settle(found.bucket(), found.leases()).size()))
            .orElse(all);
    return clock.instant().isBefore(found.endsAt()) ? all - unspent : 0;
  }

  /** Returns held tokens. Those that cannot be returned now return when their lease ends. */
  public void giveBack(ClaimResult.Granted granted) {
    // An interrupted thread cannot send requests, and nobody else can return the tokens.
    boolean wasInterrupted = Thread.interrupted();
    try {
      Unavailable.ignore(() -> queue.giveBack(granted.bucket(), granted.leases()));
      while (Thread.interrupted()) {
        wasInterrupted = true;
        Unavailable.ignore(() -> queue.giveBack(granted.bucket(), granted.leases()));
      }
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns the tokens of an attempt. */
  public void giveBack(BucketId id, Attempt attempt) {
    if (attempt.size() != 0) {
      giveBack(attempt.granted(id));
      attempt.clear();
    }
  }

  /**
   * Adds n new tokens in place of spent ones whose work was not done. Tokens that cannot be added
   * are lost, as after a crash.
   *
   * @param n 1 or more
   */
  public void putBack(BucketId id, int n) {
    Instant now = clock.instant();
    putBack(id, IntStream.range(0, n).mapToObj(i -> now).toList(), now);
  }

  /**
   * Adds new tokens in place of those of a claim, which were spent. They are as old as the spent
   * ones, so that tokens of a period stay tokens of that period.
   */
  public void putBack(ClaimResult.Granted spent) {
    putBack(spent.bucket(), spent.leases().stream().map(Lease::mintedAt).toList(), clock.instant());
  }

  private void putBack(BucketId id, List<Instant> mintedAt, Instant now) {
    List<Token> fresh =
        mintedAt.stream()
            .map(minted -> new Token(UUID.randomUUID().toString(), id, minted, now))
            .toList();
    // An interrupted thread cannot send requests. A put that is interrupted is not repeated,
    // because
    // it may have been done.
    boolean wasInterrupted = Thread.interrupted();
    try {
      Unavailable.ignore(() -> queue.put(id, fresh));
      // The hint is removed even if the put failed, because it may have been done.
      Unavailable.ignore(() -> buckets.forgetEmpty(id));
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}

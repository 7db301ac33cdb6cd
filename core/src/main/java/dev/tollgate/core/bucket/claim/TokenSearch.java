package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.TokenQueue.Search;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Searches a queue for tokens. SQS may return fewer tokens than it has (SQS API reference,
 * ReceiveMessage, {@code MaxNumberOfMessages}), and a short poll may find none of a few. So a
 * search goes on until a receive is empty, and then counts the tokens and polls long if there are
 * any.
 */
public final class TokenSearch {
  /** The most concurrent receives of one claim. */
  private static final int MAX_RECEIVES = 8;

  /** The most void tokens that one claim removes. A fill removes them faster. */
  private static final int MAX_VOID = 20;

  private final TokenQueue queue;
  private final Executor executor;

  TokenSearch(TokenQueue queue, Executor executor) {
    this.queue = queue;
    this.executor = executor;
  }

  /** The tokens that a claim in progress has received so far. Not thread-safe. */
  public static final class Attempt {
    private final Duration lease;
    private final List<Lease> leases = new ArrayList<>();
    private Optional<Unavailable> failure = Optional.empty();
    private boolean tried;
    private Predicate<Lease> isVoid = lease -> false;
    private int voids;

    /** An attempt without tokens, which holds a token for {@link Claims#LEASE}. */
    public Attempt() {
      this(Claims.LEASE);
    }

    /**
     * An attempt without tokens.
     *
     * @param lease how long it holds a token: 1 second to 12 hours (SQS VisibilityTimeout)
     * @throws InvalidValue if the lease is out of range
     */
    public Attempt(Duration lease) {
      InvalidValue.inRange("lease", lease.toSeconds(), 1, Duration.ofHours(12).toSeconds());
      this.lease = lease;
    }

    /**
     * Removes the void tokens from this attempt, and returns them.
     *
     * @param areVoid also decides about the tokens that this attempt receives later
     */
    List<Lease> setAside(Predicate<Lease> areVoid) {
      isVoid = areVoid;
      List<Lease> removed = leases.stream().filter(areVoid).toList();
      leases.removeAll(removed);
      voids += removed.size();
      return removed;
    }

    /** Whether it ended before the queue had no more tokens, because too many were void. */
    boolean isCutShort() {
      return voids >= MAX_VOID;
    }

    /** Another attempt with the same lease, without tokens. */
    Attempt again() {
      return new Attempt(lease);
    }

    /** The number of tokens. */
    int size() {
      return leases.size();
    }

    /** The tokens. */
    ClaimResult.Granted granted(BucketId id) {
      return new ClaimResult.Granted(id, leases);
    }

    /** Forgets the tokens, which were returned. */
    void clear() {
      leases.clear();
    }

    /** Has the queue asked again, because a fill has been done since. Keeps the tokens. */
    void repeat() {
      tried = false;
      failure = Optional.empty();
    }

    /** Why the queue could not be asked; empty if it responded. */
    Optional<Unavailable> failure() {
      return failure;
    }
  }

  /**
   * Removes the tokens of an attempt, and of its queue, that are void by this row of the bucket.
   */
  void removeVoid(Bucket row, Instant now, Attempt attempt) {
    remove(row.id(), attempt.setAside(row.voidTokens(now)));
  }

  private void remove(BucketId id, List<Lease> voids) {
    if (!voids.isEmpty()) {
      Unavailable.ignore(() -> queue.settle(id, voids));
    }
  }

  /** Receives up to n tokens by short polls. */
  void receive(BucketId id, int n, Attempt attempt) {
    receive(id, n, Search.SHORT, attempt);
  }

  /**
   * Receives tokens until the attempt has n or the queue has no more: by a short poll, and if the
   * queue has more by a long poll.
   *
   * @return the level of the queue if it has no more tokens; empty if it may have more, the attempt
   *     has n, or the queue failed
   */
  Optional<Level> complete(BucketId id, int n, Attempt attempt) {
    if (!attempt.tried) {
      receive(id, n, Search.SHORT, attempt);
    }
    attempt.tried = false;
    if (attempt.leases.size() == n || attempt.failure.isPresent() || attempt.isCutShort()) {
      return Optional.empty();
    }
    Optional<Level> level = level(id);
    if (level.isEmpty() || level.get().visible() == 0) {
      return level;
    }
    receive(id, n, Search.LONG, attempt);
    boolean answered = attempt.failure.isEmpty();
    // The queue responded once, so a second failure does not make the claim undecided.
    attempt.failure = Optional.empty();
    return answered && attempt.leases.size() < n && !attempt.isCutShort()
        ? level
        : Optional.empty();
  }

  private Optional<Level> level(BucketId id) {
    try {
      return Optional.of(queue.countTokens(id));
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  private void receive(BucketId id, int n, Search search, Attempt attempt) {
    attempt.tried = true;
    try {
      boolean more = true;
      while (more && attempt.leases.size() < n && !attempt.isCutShort()) {
        more = receiveOnce(id, n - attempt.leases.size(), search, attempt);
      }
    } catch (Unavailable unavailable) {
      attempt.failure = Optional.of(unavailable);
    }
  }

  /** Runs one round of concurrent receives; returns whether any of them found a token. */
  private boolean receiveOnce(BucketId id, int missing, Search search, Attempt attempt) {
    int receiveCount = Math.min(MAX_RECEIVES, (missing + TokenQueue.BATCH - 1) / TokenQueue.BATCH);
    List<CompletableFuture<List<Lease>>> receives =
        IntStream.range(0, receiveCount)
            .map(i -> Math.min(TokenQueue.BATCH, missing - i * TokenQueue.BATCH))
            .mapToObj(
                max ->
                    CompletableFuture.supplyAsync(
                        () -> queue.reserve(id, max, attempt.lease, search), executor))
            .toList();
    int before = attempt.leases.size();
    Optional<Unavailable> failure = Optional.empty();
    for (CompletableFuture<List<Lease>> receive : receives) {
      try {
        // Waits even if the thread is interrupted: tokens that arrive must not stay held. A receive
        // on this thread would be aborted after SQS has executed it.
        attempt.leases.addAll(receive.join());
      } catch (CompletionException failed) {
        failure = Optional.of(unavailable(failed));
      }
    }
    boolean found = attempt.leases.size() > before;
    remove(id, attempt.setAside(attempt.isVoid));
    failure.ifPresent(
        unavailable -> {
          throw unavailable;
        });
    return found;
  }

  private static Unavailable unavailable(CompletionException failed) {
    Throwable cause = failed.getCause();
    if (cause instanceof Unavailable unavailable) {
      return unavailable;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    throw cause instanceof RuntimeException unexpected
        ? unexpected
        : new IllegalStateException(cause);
  }
}

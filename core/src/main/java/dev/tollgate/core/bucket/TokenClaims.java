package dev.tollgate.core.bucket;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Claims tokens of any action, from any program: n at once, all or none, or as many as there are.
 *
 * <p>{@link #tryClaim} spends at once; {@link #reserve} holds tokens for work that may yet fail, to
 * be settled or given back. A holder that crashes loses nothing: its tokens return when the lease
 * ends. {@link #claimUpTo} spends what is to be had, for work that comes in batches.
 *
 * <pre>{@code
 * Claim claim = claims.tryClaim(new TenantId("acme"), new Action("send-email"), 3);
 * if (claim instanceof Claim.Granted) {
 *   send(emails);
 * } else if (claim instanceof Claim.Denied denied) {
 *   comeBackAt(denied.retryAt());
 * }
 * }</pre>
 */
public final class TokenClaims {
  /**
   * How long a token is held unless the caller says otherwise: longer than an API Gateway
   * integration may take.
   */
  public static final Duration LEASE = Duration.ofSeconds(30);

  private final Buckets buckets;
  private final TokenQueue queue;
  private final WakeUp wakeUp;
  private final InstantSource clock;

  /**
   * Claims against buckets that are written down in {@code buckets} and whose tokens lie in {@code
   * queue}. One that hibernates is woken before a token of it is spent.
   */
  public TokenClaims(Buckets buckets, TokenQueue queue, WakeUp wakeUp, InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
    this.wakeUp = wakeUp;
    this.clock = clock;
  }

  /**
   * Spends n tokens, or none.
   *
   * @param n 1 to the bucket's capacity
   * @throws InvalidValue if the bucket can never hold n, or there is no such bucket
   */
  public Claim tryClaim(TenantId tenant, Action action, int n) {
    Claim claim = reserve(tenant, action, n, LEASE);
    return claim instanceof Claim.Granted granted ? settle(granted) : claim;
  }

  /**
   * Holds n tokens for as long as {@code lease}, or none.
   *
   * @param n 1 to the bucket's capacity
   * @param lease 1 second to 12 hours (SQS VisibilityTimeout)
   * @throws InvalidValue if the bucket can never hold n, or there is no such bucket
   */
  public Claim reserve(TenantId tenant, Action action, int n, Duration lease) {
    BucketId id = new BucketId(tenant, action);
    List<Lease> held = new ArrayList<>();
    try {
      Bucket bucket = bucket(id);
      InvalidValue.inRange("n", n, 1, bucket.spec().capacity());
      Instant now = clock.instant();
      if (bucket.knownEmptyAt(now)) {
        return new Claim.Denied(bucket.nextTokensAt(now, n));
      }
      awaken(bucket);
      return hold(bucket, n, lease, held) ? new Claim.Granted(id, held) : denied(bucket, held, n);
    } catch (Unavailable unavailable) {
      giveBackQuietly(id, held);
      return new Claim.Undecided(unavailable.reason());
    }
  }

  /**
   * Spends what is held. Tokens whose lease has ended are not held any more: then nothing is spent,
   * and the answer is {@link Claim.Undecided}. So it is if the queue does not say that all are
   * spent; some may be.
   */
  public Claim settle(Claim.Granted granted) {
    if (!clock.instant().isBefore(granted.endsAt())) {
      return new Claim.Undecided("the lease ended at " + granted.endsAt());
    }
    try {
      List<Lease> unspent = queue.settle(granted.bucket(), granted.leases());
      return unspent.isEmpty()
          ? granted
          : new Claim.Undecided(
              unspent.size() + " of " + granted.leases().size() + " tokens could not be spent");
    } catch (Unavailable unavailable) {
      return new Claim.Undecided(unavailable.reason());
    }
  }

  /** Gives back what is held. */
  public void giveBack(Claim.Granted granted) {
    giveBackQuietly(granted.bucket(), granted.leases());
  }

  /**
   * Spends as many tokens as are to be had, up to n.
   *
   * @param n at least 1
   * @throws InvalidValue if there is no such bucket
   */
  public Spent claimUpTo(TenantId tenant, Action action, int n) {
    try {
      return claimUpTo(bucket(new BucketId(tenant, action)), n);
    } catch (Unavailable unavailable) {
      return new Spent(0, Optional.of(new Claim.Undecided(unavailable.reason())));
    }
  }

  /**
   * Spends as many tokens of a bucket as are to be had, up to n, in as few requests as can be. A
   * token that may have been spent and may not counts as not spent.
   *
   * @param bucket as it was read just now
   * @param n at least 1
   */
  public Spent claimUpTo(Bucket bucket, int n) {
    InvalidValue.inRange("n", n, 1, Integer.MAX_VALUE);
    Instant now = clock.instant();
    if (bucket.knownEmptyAt(now)) {
      return new Spent(0, Optional.of(new Claim.Denied(bucket.nextTokensAt(now, n))));
    }
    List<Lease> held = new ArrayList<>();
    Optional<String> failure = Optional.empty();
    boolean emptied = false;
    try {
      awaken(bucket);
      emptied = !hold(bucket, n, LEASE, held);
    } catch (Unavailable unavailable) {
      failure = Optional.of(unavailable.reason());
    }
    int spent = spendQuietly(bucket.id(), held);
    if (emptied) {
      rememberEmptyQuietly(bucket);
      Instant retryAt = bucket.nextTokensAt(clock.instant(), n - spent);
      return new Spent(spent, Optional.of(new Claim.Denied(retryAt)));
    }
    return spent == n
        ? new Spent(n, Optional.empty())
        : new Spent(
            spent,
            Optional.of(new Claim.Undecided(failure.orElse("held tokens could not be spent"))));
  }

  /**
   * Puts fresh tokens in for n that were spent in vain. Those that cannot be put are lost, as they
   * would be in a crash.
   *
   * @param n at least 1
   */
  public void putBack(BucketId id, int n) {
    Instant now = clock.instant();
    List<Token> fresh =
        IntStream.range(0, n)
            .mapToObj(i -> new Token(UUID.randomUUID().toString(), id, now, 0))
            .toList();
    unlessUnavailable(() -> queue.put(id, fresh));
  }

  private Bucket bucket(BucketId id) {
    Optional<Bucket> found = buckets.find(id);
    InvalidValue.unless(found.isPresent(), "bucket", id, "a bucket of a tenant's tier");
    return found.get();
  }

  /**
   * Adds n tokens to those held, or as many as there are until the bucket is found empty; returns
   * whether it is n. Seldom, a queue is found empty that is not: one that a fill left tokens in is
   * asked twice.
   */
  private boolean hold(Bucket bucket, int n, Duration lease, List<Lease> held) {
    boolean doubtful = bucket.level() > 0;
    boolean overdue = bucket.isOverdueAt(clock.instant());
    while (held.size() < n) {
      int most = Math.min(TokenQueue.BATCH, n - held.size());
      List<Lease> more = queue.reserve(bucket.id(), most, lease);
      if (more.isEmpty() && overdue) {
        wakeUp.wake(bucket.id());
      } else if (more.isEmpty() && !doubtful) {
        return false;
      }
      overdue &= !more.isEmpty();
      doubtful &= !more.isEmpty();
      held.addAll(more);
    }
    return true;
  }

  /**
   * Wakes a bucket that hibernates, and before any of its tokens is spent: what it then lacks is
   * what has expired, and nothing that was claimed.
   */
  private void awaken(Bucket bucket) {
    if (bucket.hibernates()) {
      wakeUp.wake(bucket.id());
    }
  }

  private Claim denied(Bucket bucket, List<Lease> held, int n) {
    Instant now = clock.instant();
    if (held.isEmpty()) {
      buckets.rememberEmpty(bucket, bucket.emptyFrom(now));
    } else {
      giveBackQuietly(bucket.id(), held);
    }
    return new Claim.Denied(bucket.nextTokensAt(now, n - held.size()));
  }

  private int spendQuietly(BucketId id, List<Lease> held) {
    return held.isEmpty()
        ? 0
        : unlessUnavailable(() -> queue.settle(id, held))
            .map(unspent -> held.size() - unspent.size())
            .orElse(0);
  }

  /** What is not remembered is found out again. */
  private void rememberEmptyQuietly(Bucket bucket) {
    unlessUnavailable(
        () -> {
          buckets.rememberEmpty(bucket, bucket.emptyFrom(clock.instant()));
          return true;
        });
  }

  /** Tokens that cannot be given back return when their lease ends. */
  private void giveBackQuietly(BucketId id, List<Lease> held) {
    if (!held.isEmpty()) {
      unlessUnavailable(() -> queue.giveBack(id, held));
    }
  }

  private static <T> Optional<T> unlessUnavailable(Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }

  /**
   * What came of a claim of up to n tokens.
   *
   * @param tokens how many were spent
   * @param shortfall why not more, if not all n
   */
  public record Spent(int tokens, Optional<Claim.Shortfall> shortfall) {}
}

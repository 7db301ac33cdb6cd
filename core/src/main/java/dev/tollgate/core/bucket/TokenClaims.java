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

/**
 * Claims tokens of any action, from any program: n at once, all or none.
 *
 * <p>{@link #tryClaim} spends at once; {@link #reserve} holds tokens for work that may yet fail, to
 * be settled or given back. A holder that crashes loses nothing: its tokens return when the lease
 * ends.
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
  private final InstantSource clock;

  /**
   * Claims against buckets that are written down in {@code buckets} and whose tokens lie in {@code
   * queue}.
   */
  public TokenClaims(Buckets buckets, TokenQueue queue, InstantSource clock) {
    this.buckets = buckets;
    this.queue = queue;
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
      Optional<Bucket> found = buckets.find(id);
      InvalidValue.unless(found.isPresent(), "bucket", id, "a bucket of a tenant's tier");
      Bucket bucket = found.get();
      InvalidValue.inRange("n", n, 1, bucket.spec().capacity());
      Instant now = clock.instant();
      if (bucket.knownEmptyAt(now)) {
        return new Claim.Denied(bucket.nextTokensAt(now, n));
      }
      // Seldom, a queue is found empty that is not: one that a fill left tokens in is asked twice.
      boolean doubtful = bucket.level() > 0;
      while (held.size() < n) {
        List<Lease> more = queue.reserve(id, Math.min(TokenQueue.BATCH, n - held.size()), lease);
        if (more.isEmpty() && !doubtful) {
          return denied(bucket, held, n);
        }
        doubtful &= !more.isEmpty();
        held.addAll(more);
      }
      return new Claim.Granted(id, held);
    } catch (Unavailable unavailable) {
      giveBackQuietly(id, held);
      return new Claim.Undecided(unavailable.reason());
    }
  }

  /**
   * Spends what is held. Tokens whose lease has ended are not held any more: then nothing is spent,
   * and the answer is {@link Claim.Undecided}.
   */
  public Claim settle(Claim.Granted granted) {
    if (!clock.instant().isBefore(granted.endsAt())) {
      return new Claim.Undecided("the lease ended at " + granted.endsAt());
    }
    List<Lease> unspent = queue.settle(granted.bucket(), granted.leases());
    return unspent.isEmpty()
        ? granted
        : new Claim.Undecided(
            unspent.size() + " of " + granted.leases().size() + " tokens could not be spent");
  }

  /** Gives back what is held. */
  public void giveBack(Claim.Granted granted) {
    giveBackQuietly(granted.bucket(), granted.leases());
  }

  private Claim denied(Bucket bucket, List<Lease> held, int n) {
    Instant now = clock.instant();
    if (held.isEmpty()) {
      buckets.rememberEmpty(bucket, bucket.nextTokenAt(now));
    } else {
      giveBackQuietly(bucket.id(), held);
    }
    return new Claim.Denied(bucket.nextTokensAt(now, n - held.size()));
  }

  /** Tokens that cannot be given back return when their lease ends. */
  private void giveBackQuietly(BucketId id, List<Lease> held) {
    if (held.isEmpty()) {
      return;
    }
    try {
      queue.giveBack(id, held);
    } catch (Unavailable ignored) {
      return;
    }
  }
}

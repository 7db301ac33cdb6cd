package dev.tollgate.client;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.fill.BucketFill;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.function.UnaryOperator;

/**
 * A {@link TollgateClient} for the tests of applications. Its in-memory buckets fill like those of
 * a deployment, by a clock that only the test moves.
 *
 * <pre>{@code
 * InMemoryTollgate tollgate = new InMemoryTollgate().put("acme", "send-email", 0.2, 5);
 * Mailer mailer = new Mailer(tollgate);
 * …
 * tollgate.advance(Duration.ofMinutes(5));
 * }</pre>
 *
 * Every claim looks at the bucket: nothing is remembered between claims, and no tokens are taken
 * ahead of them.
 *
 * <p>Thread-safe.
 */
public final class InMemoryTollgate implements TollgateClient {
  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

  private final MemoryBuckets buckets = new MemoryBuckets();
  private final MemoryTokens tokens = new MemoryTokens(this::now);
  private final BucketFill fill = new BucketFill(buckets, tokens, this::now);
  private final TollgateClient client;

  /** Read while the tokens' lock is held, so it needs no separate lock. */
  private volatile Instant now;

  /** Creates a client without buckets, whose clock starts at the current time. */
  public InMemoryTollgate() {
    this(InstantSource.system().instant(), new ClaimListener() {});
  }

  /** Creates a client without buckets, whose clock starts at {@code start}. */
  public InMemoryTollgate(Instant start, ClaimListener listener) {
    now = start;
    ExecutorService requests = Threads.upTo(1, "tollgate-requests");
    Claims claims = new Claims(buckets, tokens, new Fills(), requests, Pause.real(), this::now);
    CachedClaims cached =
        new CachedClaims(
                ClaimsClient.reader(this::find), claims, Optional.empty(), Runnable::run, this::now)
            .oneByOne();
    client = new ClaimsClient(cached, claims, this::now, listener, List.of(requests::shutdown));
  }

  /**
   * Adds a full bucket, or replaces the bucket of the same name. A new tenant gets a {@code
   * connect} bucket of 60 tokens a minute as well.
   *
   * @param ratePerMinute tokens a minute, 0.000001 to 60,000, with at most six decimals
   * @param capacity 1 to 100,000
   * @throws IllegalArgumentException if a name is malformed or a number is out of range
   */
  public synchronized InMemoryTollgate put(
      String tenantId, String action, double ratePerMinute, long capacity) {
    BucketId id = ClaimsClient.id(tenantId, action);
    InvalidValue.unless(
        Double.isFinite(ratePerMinute), "ratePerMinute", ratePerMinute, "0.000001 to 60000");
    return add(id, new BucketSpec(Rate.perMinute(BigDecimal.valueOf(ratePerMinute)), capacity));
  }

  /**
   * Adds a full bucket that a calendar fills, or replaces the bucket of the same name, as {@link
   * #put} does.
   *
   * @param capacity the tokens of a day, 1 to 100,000
   * @param at the time of day at which a day begins, such as {@code 00:00}
   * @param zone the time zone of {@code at}, such as {@code Europe/Berlin}
   * @throws IllegalArgumentException if a name or a time is malformed, or a number is out of range
   */
  public synchronized InMemoryTollgate putDaily(
      String tenantId, String action, long capacity, String at, String zone) {
    Calendar day = Calendar.of("DAY", Optional.empty(), at, zone, false);
    return add(ClaimsClient.id(tenantId, action), new BucketSpec(day, capacity));
  }

  private InMemoryTollgate add(BucketId id, BucketSpec spec) {
    if (!buckets.isKnown(id.tenant())) {
      put(new BucketId(id.tenant(), Action.CONNECT), BucketSpec.ofRate(Rate.perMinute(60)));
    }
    put(id, spec);
    return this;
  }

  private void put(BucketId id, BucketSpec spec) {
    tokens.clear(id);
    buckets.put(Bucket.opened(id, spec, now));
  }

  /** Changes a bucket as a change of its tier does. */
  synchronized void retune(BucketId id, UnaryOperator<BucketSpec> change) {
    Bucket read = find(id).orElseThrow();
    buckets.replace(read.retuned(change.apply(read.spec()), now));
  }

  /** Fills the bucket as its schedule would have done by now, and returns it. */
  private synchronized Optional<Bucket> find(BucketId id) {
    tokens.requireAvailable(id);
    fill.fill(id);
    return buckets.find(id);
  }

  /** The current time of the clock. */
  public Instant now() {
    return now;
  }

  /**
   * Moves the clock forward; buckets fill accordingly.
   *
   * @throws IllegalArgumentException if {@code by} is negative, or the new time is after the year
   *     9999
   */
  public synchronized void advance(Duration by) {
    Duration max = Duration.between(now, LATEST);
    InvalidValue.unless(
        !by.isNegative() && by.compareTo(max) <= 0, "by", by, Duration.ZERO + " to " + max);
    // A fill adds at most the room that the last fill left, plus one minute's tokens. This fill
    // comes before the clock moves, so the fill before the next claim adds all tokens of the time
    // in between.
    buckets.ids().forEach(fill::fill);
    now = now.plus(by);
  }

  /**
   * Makes buckets fail or respond again. While they fail, claims are {@link Claim.Undecided},
   * settlements are {@link Settlement.Unknown}, and tokens are returned only when their leases end.
   */
  public void setAvailable(boolean available) {
    tokens.setAvailable(available);
  }

  @Override
  public TokenBucket bucket(String tenantId, String action) {
    return client.bucket(tenantId, action);
  }

  @Override
  public Claim tryClaimEach(String tenantId, Collection<String> actions, int n) {
    return client.tryClaimEach(tenantId, actions, n);
  }

  @Override
  public void close() {
    client.close();
  }

  /** Ignores fill requests, because a bucket is filled before each claim. */
  private static final class Fills implements FillRequests {
    @Override
    public void send(BucketId id) {}

    @Override
    public void sendAndWait(BucketId id) {}
  }
}

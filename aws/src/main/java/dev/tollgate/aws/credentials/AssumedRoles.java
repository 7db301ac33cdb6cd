package dev.tollgate.aws.credentials;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.DoubleSupplier;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.Tag;

/**
 * Credentials from STS: one role, assumed with the tenant's id as a session tag. The role's policy
 * compares keys and queue names with that tag.
 *
 * <p>Credentials of the most recently used tenants are cached. Instances of a function share them
 * in a {@link CredentialStore}, because STS takes some 600 requests a second of a whole account:
 * the first instance that needs a tenant's credentials asks STS, and the others read what it
 * stored.
 *
 * <h2>Renewal</h2>
 *
 * Each process looks for newer credentials at a random instant, 15 to 5 minutes before its own
 * expire. It takes what the store has, or else asks for the right to renew. So one process renews
 * them, and all others go on with those that they have. A process whose look brings nothing, since
 * STS or the store failed or another process renews, looks again half a minute later. Only a
 * process without usable credentials asks STS without that right.
 *
 * <p>Threads that need the same tenant's first credentials at once share one request. A failure is
 * reported to these threads and not cached.
 */
public final class AssumedRoles implements TenantCredentials {
  /** The name of the session tag. */
  static final String TAG = "tenantId";

  /** Role chaining limits credentials to one hour (STS AssumeRole). */
  private static final Duration DURATION = Duration.ofHours(1);

  private static final Duration LOOK_FROM = Duration.ofMinutes(15);
  private static final Duration LOOK_TO = Duration.ofMinutes(5);
  private static final Duration LOOK_AGAIN_FROM = Duration.ofSeconds(15);
  private static final Duration LOOK_AGAIN_TO = Duration.ofSeconds(45);

  /** Longer than any function runs, and than clocks differ. */
  private static final Duration LAST_USE = Duration.ofMinutes(1);

  private final StsClient sts;
  private final String roleArn;
  private final CredentialStore store;
  private final CredentialFailures failures;
  private final InstantSource clock;
  private final DoubleSupplier random;
  private final Map<TenantId, CompletableFuture<Held>> cache;

  /**
   * Credentials of a role.
   *
   * @param store where instances share credentials
   * @param max how many tenants' credentials are cached, of some 2 KB each
   * @param random numbers from 0 to 1, which differ between instances restored from one snapshot
   */
  public AssumedRoles(
      StsClient sts,
      String roleArn,
      CredentialStore store,
      CredentialFailures failures,
      int max,
      InstantSource clock,
      DoubleSupplier random) {
    this.sts = sts;
    this.roleArn = roleArn;
    this.store = store;
    this.failures = failures;
    this.clock = clock;
    this.random = random;
    this.cache = new RecentlyUsedMap<>(max);
  }

  @Override
  public AwsCredentialsProvider of(TenantId tenant) {
    Instant now = clock.instant();
    CompletableFuture<Held> first = new CompletableFuture<>();
    CompletableFuture<Held> cached;
    boolean mustLook = false;
    synchronized (cache) {
      cached = cache.getOrDefault(tenant, first);
      if (cached.isDone() && !cached.join().isUsableAt(now)) {
        cached = first;
      }
      if (cached == first) {
        cache.put(tenant, first);
      } else if (cached.isDone() && cached.join().isLookDueAt(now)) {
        mustLook = true;
        // Other threads go on with these credentials meanwhile.
        hold(tenant, cached.join().lookingAt(between(now, LOOK_AGAIN_FROM, LOOK_AGAIN_TO)));
      }
    }
    if (cached == first) {
      fetch(tenant, first, now);
    } else if (mustLook) {
      return look(tenant, cached.join(), now).provider();
    }
    try {
      return cached.join().provider();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
  }

  private void fetch(TenantId tenant, CompletableFuture<Held> request, Instant now) {
    try {
      request.complete(
          store
              .find(tenant)
              .filter(found -> isPossible(found, now))
              .map(found -> held(found, now))
              .filter(found -> found.isUsableAt(now))
              .orElseGet(() -> held(assume(tenant), now)));
    } catch (RuntimeException | Error failure) {
      synchronized (cache) {
        cache.remove(tenant, request);
      }
      request.completeExceptionally(failure);
    }
  }

  /** Looks for newer credentials; returns the ones held if there are none. */
  private Held look(TenantId tenant, Held old, Instant now) {
    Optional<TemporaryCredentials> found = store.find(tenant);
    Optional<TemporaryCredentials> newer =
        found.filter(stored -> stored.endsAt().isAfter(old.endsAt()) && isPossible(stored, now));
    Instant known = found.map(TemporaryCredentials::endsAt).orElse(old.endsAt());
    if (newer.isEmpty() && store.claimRenewal(tenant, known, now)) {
      try {
        newer = Optional.of(assume(tenant));
      } catch (Unavailable unavailable) {
        // The ones held are usable, and this process looks again soon.
      }
    }
    return newer
        .map(
            stored -> {
              Held next = held(stored, now);
              synchronized (cache) {
                hold(tenant, next);
              }
              return next;
            })
        .orElse(old);
  }

  /** Whether STS may have issued credentials that end then. Others were stored by somebody else. */
  private static boolean isPossible(TemporaryCredentials stored, Instant now) {
    return !stored.endsAt().isAfter(now.plus(DURATION).plus(LAST_USE));
  }

  /** Caches credentials. The caller has the lock. */
  private void hold(TenantId tenant, Held held) {
    cache.put(tenant, CompletableFuture.completedFuture(held));
  }

  private TemporaryCredentials assume(TenantId tenant) {
    Credentials credentials = request(tenant);
    TemporaryCredentials issued =
        new TemporaryCredentials(
            credentials.accessKeyId(),
            credentials.secretAccessKey(),
            credentials.sessionToken(),
            credentials.expiration());
    store.store(tenant, issued);
    return issued;
  }

  private Credentials request(TenantId tenant) {
    try {
      return ask(
          "STS AssumeRole for " + tenant,
          () ->
              sts.assumeRole(
                      request ->
                          request
                              .roleArn(roleArn)
                              .roleSessionName("tenant-" + tenant)
                              .durationSeconds((int) DURATION.toSeconds())
                              .tags(Tag.builder().key(TAG).value(tenant.value()).build()))
                  .credentials());
    } catch (Unavailable unavailable) {
      failures.count(CredentialFailures.Source.STS, unavailable.reason());
      throw new NoCredentials(unavailable);
    }
  }

  private Held held(TemporaryCredentials credentials, Instant now) {
    Instant endsAt = credentials.endsAt();
    Instant from = later(now, endsAt.minus(LOOK_FROM));
    Duration span = Duration.between(from, later(from, endsAt.minus(LOOK_TO)));
    return new Held(credentials.provider(), endsAt, between(from, Duration.ZERO, span));
  }

  private Instant between(Instant start, Duration from, Duration to) {
    return start.plus(from).plusMillis((long) (random.getAsDouble() * to.minus(from).toMillis()));
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  /**
   * Cached credentials.
   *
   * @param lookAt when this process looks for newer ones
   */
  private record Held(AwsCredentialsProvider provider, Instant endsAt, Instant lookAt) {
    boolean isUsableAt(Instant now) {
      return now.isBefore(endsAt.minus(LAST_USE));
    }

    boolean isLookDueAt(Instant now) {
      return !now.isBefore(lookAt);
    }

    Held lookingAt(Instant next) {
      return new Held(provider, endsAt, next);
    }
  }
}

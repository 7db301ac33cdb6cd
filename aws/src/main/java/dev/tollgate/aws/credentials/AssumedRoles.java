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
 *
 * <h2>Denials</h2>
 *
 * Credentials that AWS denies may have been revoked. The next request for the tenant's credentials
 * replaces them, by newer ones of the store or else of STS. If AWS denies these too, the tenant
 * role may not do what was tried, and new credentials change nothing: so they are replaced a minute
 * after they were issued, then after two minutes, four, and so on.
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

  /** The shortest time from one request to STS to the next, if AWS denies all credentials. */
  private static final Duration DENIED_PAUSE = Duration.ofMinutes(1);

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
    Optional<Held> denied = Optional.empty();
    boolean mustLook = false;
    synchronized (cache) {
      cached = cache.getOrDefault(tenant, first);
      if (cached.isDone() && !cached.join().isUsableAt(now)) {
        cached = first;
      } else if (cached.isDone() && cached.join().isReplacedAt(now)) {
        denied = Optional.of(cached.join());
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
      fetch(tenant, first, denied, now);
    } else if (mustLook) {
      return look(tenant, cached.join(), now).provider();
    }
    try {
      return cached.join().provider();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
  }

  /**
   * Marks a tenant's credentials as denied, unless they have been replaced. Sends no request: the
   * next call of {@link #of} replaces them.
   */
  void deny(TenantId tenant, TenantSession session) {
    synchronized (cache) {
      CompletableFuture<Held> cached = cache.get(tenant);
      if (cached != null && cached.isDone() && !cached.isCompletedExceptionally()) {
        Held held = cached.join();
        if (held.provider() == session) {
          hold(tenant, held.denied());
        }
      }
    }
  }

  /**
   * Gets credentials that this process does not have.
   *
   * @param denied the ones that AWS denied; stored ones must have been issued later
   */
  private void fetch(
      TenantId tenant, CompletableFuture<Held> request, Optional<Held> denied, Instant now) {
    try {
      request.complete(
          store
              .find(tenant)
              .filter(found -> isPossible(found, now))
              .filter(found -> denied.isEmpty() || found.endsAt().isAfter(denied.get().endsAt()))
              .map(found -> held(tenant, found, now))
              .filter(found -> found.isUsableAt(now))
              // These may have been revoked, too, so that they may be replaced at once.
              .map(found -> denied.map(old -> found.keptUntil(now, old.pause())).orElse(found))
              .orElseGet(
                  () -> {
                    Held issued = held(tenant, assume(tenant), now);
                    return denied.map(old -> issued.keptLonger(old, now)).orElse(issued);
                  }));
    } catch (RuntimeException | Error failure) {
      synchronized (cache) {
        if (cache.remove(tenant, request)) {
          // Without these, each further request would ask STS.
          denied.ifPresent(old -> hold(tenant, old.keptLonger(old, now)));
        }
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
              Held next = held(tenant, stored, now);
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

  private Held held(TenantId tenant, TemporaryCredentials credentials, Instant now) {
    Instant endsAt = credentials.endsAt();
    Instant from = later(now, endsAt.minus(LOOK_FROM));
    Duration span = Duration.between(from, later(from, endsAt.minus(LOOK_TO)));
    return new Held(
        new TenantSession(tenant, credentials.forRequests(), this),
        endsAt,
        between(from, Duration.ZERO, span),
        false,
        now,
        DENIED_PAUSE);
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
   * @param isDenied whether AWS denied a request with them
   * @param replaceFrom when they may be replaced, if they are denied
   * @param pause the least time between a replacement of denied credentials and the next one
   */
  private record Held(
      TenantSession provider,
      Instant endsAt,
      Instant lookAt,
      boolean isDenied,
      Instant replaceFrom,
      Duration pause) {
    boolean isUsableAt(Instant now) {
      return now.isBefore(endsAt.minus(LAST_USE));
    }

    boolean isLookDueAt(Instant now) {
      return !now.isBefore(lookAt);
    }

    /** Whether AWS denied them and they may be replaced. */
    boolean isReplacedAt(Instant now) {
      return isDenied && !now.isBefore(replaceFrom);
    }

    Held lookingAt(Instant next) {
      return new Held(provider, endsAt, next, isDenied, replaceFrom, pause);
    }

    Held denied() {
      return new Held(provider, endsAt, lookAt, true, replaceFrom, pause);
    }

    /** These, kept for the pause of denied ones, and the next ones for twice that time. */
    Held keptLonger(Held old, Instant now) {
      return keptUntil(now.plus(old.pause), old.pause.multipliedBy(2));
    }

    /** These, which may be replaced from an instant on if they are denied. */
    Held keptUntil(Instant from, Duration nextPause) {
      return new Held(provider, endsAt, lookAt, isDenied, from, nextPause);
    }
  }
}

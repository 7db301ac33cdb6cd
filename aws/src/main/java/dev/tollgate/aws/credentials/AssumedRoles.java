package dev.tollgate.aws.credentials;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.LruMap;
import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.Tag;

/**
 * Credentials from STS: one role, assumed with the tenant's id as a session tag. The role's policy
 * compares keys and queue names with that tag. Credentials of the most recently used tenants are
 * cached and renewed before they expire. Threads that need the same tenant's credentials at once
 * share one request. A failure is reported to these threads and not cached.
 */
public final class AssumedRoles implements TenantCredentials {
  /** The name of the session tag. */
  static final String TAG = "tenantId";

  /** Role chaining limits credentials to one hour (STS AssumeRole). */
  private static final Duration DURATION = Duration.ofHours(1);

  private static final Duration RENEWED_BEFORE_END = Duration.ofMinutes(5);

  private final StsClient sts;
  private final String roleArn;
  private final InstantSource clock;
  private final Map<TenantId, CompletableFuture<Assumed>> cache;

  /**
   * Credentials of a role.
   *
   * @param max how many tenants' credentials are cached
   */
  public AssumedRoles(StsClient sts, String roleArn, int max, InstantSource clock) {
    this.sts = sts;
    this.roleArn = roleArn;
    this.clock = clock;
    this.cache = new LruMap<>(max);
  }

  @Override
  public AwsCredentialsProvider of(TenantId tenant) {
    CompletableFuture<Assumed> request = new CompletableFuture<>();
    CompletableFuture<Assumed> cached = cachedOr(tenant, request);
    if (cached == request) {
      assume(tenant, request);
    }
    try {
      return cached.join().provider();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
  }

  /**
   * The cached or pending credentials of the tenant; if there are none, stores and returns {@code
   * request}.
   */
  private CompletableFuture<Assumed> cachedOr(TenantId tenant, CompletableFuture<Assumed> request) {
    Instant now = clock.instant();
    synchronized (cache) {
      CompletableFuture<Assumed> cached = cache.get(tenant);
      if (cached != null && (!cached.isDone() || cached.join().freshAt(now))) {
        return cached;
      }
      cache.put(tenant, request);
      return request;
    }
  }

  private void assume(TenantId tenant, CompletableFuture<Assumed> request) {
    try {
      request.complete(assume(tenant));
    } catch (RuntimeException | Error failure) {
      synchronized (cache) {
        cache.remove(tenant, request);
      }
      request.completeExceptionally(failure);
    }
  }

  private Assumed assume(TenantId tenant) {
    Credentials credentials =
        ask(
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
    return new Assumed(
        StaticCredentialsProvider.create(
            AwsSessionCredentials.create(
                credentials.accessKeyId(),
                credentials.secretAccessKey(),
                credentials.sessionToken())),
        credentials.expiration());
  }

  private record Assumed(AwsCredentialsProvider provider, Instant endsAt) {
    boolean freshAt(Instant now) {
      return now.isBefore(endsAt.minus(RENEWED_BEFORE_END));
    }
  }
}

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
 * Tenant-scoped credentials: one role, assumed with the tenant's name as a session tag that the
 * role's policy compares keys and queue names with. Kept for the tenants used last, renewed a while
 * before they end. Threads that ask for one tenant at once share one request; a failure is theirs
 * and is not kept.
 */
public final class AssumedRoles implements TenantCredentials {
  /** The name of the session tag. */
  static final String TAG = "tenantId";

  /** A role that another role assumes is held for an hour at most (STS AssumeRole). */
  private static final Duration HELD = Duration.ofHours(1);

  private static final Duration RENEWED_BEFORE_END = Duration.ofMinutes(5);

  private final StsClient sts;
  private final String roleArn;
  private final InstantSource clock;
  private final Map<TenantId, CompletableFuture<Assumed>> kept;

  /**
   * Credentials of a role.
   *
   * @param most how many tenants' credentials are kept
   */
  public AssumedRoles(StsClient sts, String roleArn, int most, InstantSource clock) {
    this.sts = sts;
    this.roleArn = roleArn;
    this.clock = clock;
    this.kept = new LruMap<>(most);
  }

  @Override
  public AwsCredentialsProvider of(TenantId tenant) {
    CompletableFuture<Assumed> mine = new CompletableFuture<>();
    CompletableFuture<Assumed> standing = standingOr(tenant, mine);
    if (standing == mine) {
      assume(tenant, mine);
    }
    try {
      return standing.join().provider();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
  }

  /** What is kept for the tenant or being fetched for it; {@code mine} in its place if neither. */
  private CompletableFuture<Assumed> standingOr(TenantId tenant, CompletableFuture<Assumed> mine) {
    Instant now = clock.instant();
    synchronized (kept) {
      CompletableFuture<Assumed> standing = kept.get(tenant);
      if (standing != null && (!standing.isDone() || standing.join().freshAt(now))) {
        return standing;
      }
      kept.put(tenant, mine);
      return mine;
    }
  }

  private void assume(TenantId tenant, CompletableFuture<Assumed> mine) {
    try {
      mine.complete(assume(tenant));
    } catch (RuntimeException | Error failure) {
      synchronized (kept) {
        kept.remove(tenant, mine);
      }
      mine.completeExceptionally(failure);
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
                                .durationSeconds((int) HELD.toSeconds())
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

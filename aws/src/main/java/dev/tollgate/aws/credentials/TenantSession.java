package dev.tollgate.aws.credentials;

import dev.tollgate.core.TenantId;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/** Provides the credentials of one session of the tenant role, and knows who caches them. */
final class TenantSession implements AwsCredentialsProvider {
  private final TenantId tenant;
  private final AwsCredentials credentials;
  private final AssumedRoles cache;

  TenantSession(TenantId tenant, AwsCredentials credentials, AssumedRoles cache) {
    this.tenant = tenant;
    this.credentials = credentials;
    this.cache = cache;
  }

  @Override
  public AwsCredentials resolveCredentials() {
    return credentials;
  }

  /** Tells the cache that AWS denied a request with these credentials. */
  void deny() {
    cache.deny(tenant, this);
  }
}

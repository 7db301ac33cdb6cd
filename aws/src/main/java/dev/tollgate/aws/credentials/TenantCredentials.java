package dev.tollgate.aws.credentials;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;

/** Credentials that reach the rows and queues of one tenant and no other's. */
@FunctionalInterface
public interface TenantCredentials {
  /**
   * Credentials for a tenant's rows and queues.
   *
   * @throws Unavailable if there are none to be had
   */
  AwsCredentialsProvider of(TenantId tenant);

  /** A request's configuration by which it is made in the tenant's name. */
  default AwsRequestOverrideConfiguration as(TenantId tenant) {
    return AwsRequestOverrideConfiguration.builder().credentialsProvider(of(tenant)).build();
  }
}

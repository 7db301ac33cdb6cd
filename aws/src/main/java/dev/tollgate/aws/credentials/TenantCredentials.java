package dev.tollgate.aws.credentials;

import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.TenantId;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;

/** Provides the credentials for requests about one tenant. */
@FunctionalInterface
public interface TenantCredentials {
  /**
   * Credentials for a tenant's rows, queues and functions.
   *
   * @throws NoCredentials if they cannot be fetched
   */
  AwsCredentialsProvider of(TenantId tenant);

  /**
   * The credentials of a function that acts on no stranger's request, and whose own role may access
   * the resources of all tenants.
   */
  static TenantCredentials own(AwsCredentialsProvider provider) {
    return tenant -> provider;
  }

  /** A request configuration that uses the tenant's credentials. */
  default AwsRequestOverrideConfiguration as(TenantId tenant) {
    return AwsRequestOverrideConfiguration.builder().credentialsProvider(of(tenant)).build();
  }
}

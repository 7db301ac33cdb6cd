package dev.tollgate.aws.credentials;

import java.time.Instant;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Credentials of one tenant, which STS issued.
 *
 * @param secretAccessKey a secret, as the session token is
 * @param endsAt when they expire
 */
public record TemporaryCredentials(
    String accessKeyId, String secretAccessKey, String sessionToken, Instant endsAt) {

  /** A provider of these credentials alone. */
  AwsCredentialsProvider provider() {
    return StaticCredentialsProvider.create(
        AwsSessionCredentials.create(accessKeyId, secretAccessKey, sessionToken));
  }

  /** The public part. */
  @Override
  public String toString() {
    return accessKeyId + " until " + endsAt;
  }
}

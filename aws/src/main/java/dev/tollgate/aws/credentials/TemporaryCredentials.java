package dev.tollgate.aws.credentials;

import java.time.Instant;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/**
 * Credentials of one tenant, which STS issued.
 *
 * @param secretAccessKey a secret, as the session token is
 * @param endsAt when they expire
 */
public record TemporaryCredentials(
    String accessKeyId, String secretAccessKey, String sessionToken, Instant endsAt) {

  /** The credentials that requests are signed with. */
  AwsCredentials forRequests() {
    return AwsSessionCredentials.create(accessKeyId, secretAccessKey, sessionToken);
  }

  /** The public part. */
  @Override
  public String toString() {
    return accessKeyId + " until " + endsAt;
  }
}

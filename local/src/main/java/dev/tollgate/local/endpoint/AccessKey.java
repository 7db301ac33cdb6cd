package dev.tollgate.local.endpoint;

import java.util.Map;

/** A set of temporary credentials. */
public record AccessKey(String accessKeyId, String secretAccessKey, String sessionToken) {
  /** The credentials as environment variables. */
  public Map<String, String> environment() {
    return Map.of(
        "AWS_ACCESS_KEY_ID", accessKeyId,
        "AWS_SECRET_ACCESS_KEY", secretAccessKey,
        "AWS_SESSION_TOKEN", sessionToken);
  }
}

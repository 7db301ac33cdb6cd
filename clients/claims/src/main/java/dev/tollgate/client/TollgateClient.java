package dev.tollgate.client;

/**
 * A client of one deployment that claims tokens from tenants' buckets. Thread-safe; one per process
 * is enough.
 *
 * <pre>{@code
 * try (TollgateClient tollgate = TollgateClient.fromEnvironment()) {
 *   Claim claim = tollgate.bucket("acme", "send-email").tryClaim(3);
 *   if (claim instanceof Claim.Denied denied) {
 *     comeBackAt(denied.retryAt());
 *   }
 * }
 * }</pre>
 */
public interface TollgateClient extends AutoCloseable {
  /**
   * Opens a client with the configuration in environment variables, see {@link
   * TollgateClientBuilder#environment}.
   *
   * @throws IllegalStateException if a variable is missing
   */
  static TollgateClient fromEnvironment() {
    return builder().environment(System.getenv()).build();
  }

  /** Returns a builder without any settings. */
  static TollgateClientBuilder builder() {
    return new TollgateClientBuilder();
  }

  /**
   * Returns a handle to a bucket. Sends no request; the first claim fails if the bucket does not
   * exist.
   *
   * @param tenantId 1 to 36 lower-case letters, digits and hyphens; not a hyphen first
   * @param action 1 to 20 lower-case letters, digits and hyphens; a letter first
   * @throws IllegalArgumentException if a name is malformed
   */
  TokenBucket bucket(String tenantId, String action);

  /**
   * Waits up to a few seconds for claims in progress, and closes all resources that this client
   * opened. SDK and HTTP clients given to the builder stay open. Reservations can no longer be
   * spent or returned; their tokens return when their leases end. A second call does nothing.
   */
  @Override
  void close();
}

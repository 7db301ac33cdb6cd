package dev.tollgate.client;

/**
 * A client of one deployment, for claiming tokens from tenants' buckets. Thread-safe; a process
 * needs one.
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
   * Opens a client that is configured by environment variables, see {@link
   * TollgateClientBuilder#environment}.
   *
   * @throws IllegalStateException if a variable is missing
   */
  static TollgateClient fromEnvironment() {
    return builder().environment(System.getenv()).build();
  }

  /** Returns a builder of clients, with nothing set. */
  static TollgateClientBuilder builder() {
    return new TollgateClientBuilder();
  }

  /**
   * Returns a handle to a bucket. Sends no request, so the bucket may turn out to be unknown at the
   * first claim.
   *
   * @param tenantId 1 to 36 lower-case letters, digits and hyphens; not a hyphen first
   * @param action 1 to 20 lower-case letters, digits and hyphens; a letter first
   * @throws IllegalArgumentException if a name is malformed
   */
  TokenBucket bucket(String tenantId, String action);

  /**
   * Waits for the claims under way, which takes some seconds at most, and closes what this client
   * opened; SDK and HTTP clients that were given to its builder stay open. Reservations that are
   * still held can be neither spent nor returned any more; their tokens return when their leases
   * end. Closing twice does nothing.
   */
  @Override
  void close();
}

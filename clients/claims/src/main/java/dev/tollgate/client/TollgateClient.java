package dev.tollgate.client;

import java.util.Collection;

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
  /** The most buckets of one claim. */
  int MAX_BUCKETS = 5;

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
   * Spends n tokens of each of several buckets of a tenant, or none of any: for example of 10 a
   * minute and of 1,000 a day. The tokens of all buckets are held before any are spent. If some
   * cannot be spent then, new ones replace those that were.
   *
   * @param actions the actions of the buckets, in any order; 1 to {@value #MAX_BUCKETS} different
   *     ones
   * @param n 1 to the smallest capacity, at most 10,000
   * @return granted; the refusal of the first bucket that refuses; or undecided, if tokens of one
   *     bucket may have been spent
   * @throws IllegalArgumentException if a name is malformed or a number out of range
   */
  Claim tryClaimEach(String tenantId, Collection<String> actions, int n);

  /**
   * Waits up to a few seconds for claims in progress, and closes all resources that this client
   * opened. SDK and HTTP clients given to the builder stay open. Reservations can no longer be
   * spent or returned; their tokens return when their leases end. A second call does nothing.
   */
  @Override
  void close();
}

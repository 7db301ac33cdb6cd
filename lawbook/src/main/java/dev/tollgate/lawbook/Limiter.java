package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/**
 * A limiter on trial, with buckets of tenants that it tells apart by name. Only the first three
 * methods are needed; each other one lets more laws be judged, or judged closer.
 */
public interface Limiter {
  /** Opens a tenant's bucket, full. */
  void open(String tenant, Terms terms);

  /** Claims one token for a tenant. */
  Claim claim(String tenant);

  /**
   * Changes a tenant's terms from now on.
   *
   * @return false if this limiter's terms cannot change
   */
  boolean retune(String tenant, Terms terms);

  /**
   * Claims several tokens for a tenant: all of them or none.
   *
   * @param tokens 2 to the capacity
   * @return empty if this limiter gives tokens one by one only
   */
  default Optional<Claim> claim(String tenant, long tokens) {
    return Optional.empty();
  }

  /**
   * Has several callers, each in a process of its own, claim so many tokens each at the same time.
   *
   * @return an answer for each; empty if this limiter cannot be tried in this way
   */
  default Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
    return Optional.empty();
  }

  /** When {@link #passedTo} must be called next; empty for never. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** The clock has come to this instant: the one that was asked for, or a later one. */
  default void passedTo(Instant now) {}

  /** Its own counts of a tenant's tokens, if it has them. */
  default Optional<TokenCounts> tokenCounts(String tenant) {
    return Optional.empty();
  }

  /**
   * How many tokens have gone so far because of their age, which its terms allow; empty if nobody
   * knows.
   */
  default OptionalLong expiredByAge(String tenant) {
    return OptionalLong.of(0);
  }

  /** What injected faults account for. */
  default Excuse excuse(String tenant) {
    return Excuse.NONE;
  }

  /** What a tenant's claims have cost so far, in whatever is scarce: requests to a store, locks. */
  default long cost(String tenant) {
    return 0;
  }

  /** Makes limiters, one for each history, and says what it promises. */
  @FunctionalInterface
  interface Maker {
    /** A limiter that knows nothing of an earlier one. */
    Limiter make(Setting setting);

    /**
     * Some terms that it can keep, with the slack, the lateness and the grain that it says it
     * needs.
     */
    default Terms terms(Random random) {
      return Terms.any(random);
    }
  }
}

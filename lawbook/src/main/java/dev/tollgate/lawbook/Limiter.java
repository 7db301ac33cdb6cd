package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/**
 * The limiter under test: one bucket per tenant name. Only the first three methods are required;
 * each of the others lets more laws be checked, or checked more strictly.
 */
public interface Limiter {
  /** Creates a full bucket for a tenant. */
  void open(String tenant, Terms terms);

  /** Claims one token for a tenant. */
  Claim claim(String tenant);

  /**
   * Changes a tenant's terms from now on.
   *
   * @return false if this limiter cannot change terms
   */
  boolean retune(String tenant, Terms terms);

  /**
   * Claims several tokens for a tenant, all or none.
   *
   * @param tokens 2 to the capacity
   * @return empty if this limiter has no claims for several tokens
   */
  default Optional<Claim> claim(String tenant, long tokens) {
    return Optional.empty();
  }

  /**
   * Makes several callers, each in its own process, claim {@code tokens} tokens each at the same
   * time.
   *
   * @return one answer per caller; empty if this limiter cannot be tested with concurrent callers
   */
  default Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
    return Optional.empty();
  }

  /** When {@link #passedTo} must be called next; empty for never. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /**
   * Reports that the clock has reached {@code now}, the instant of {@link #nextTimer} or a later
   * one.
   */
  default void passedTo(Instant now) {}

  /**
   * The limiter's own counts of a tenant's tokens, if it keeps any. Reading them changes neither
   * answers nor costs.
   */
  default Optional<TokenCounts> tokenCounts(String tenant) {
    return Optional.empty();
  }

  /** How many tokens have expired by age so far, as the terms allow; empty if unknown. */
  default OptionalLong expiredByAge(String tenant) {
    return OptionalLong.of(0);
  }

  /** The effects of the faults injected so far. */
  default FaultEffects faultEffects(String tenant) {
    return FaultEffects.NONE;
  }

  /** The total cost of a tenant's claims so far, in any unit: requests to a store, locks taken. */
  default long cost(String tenant) {
    return 0;
  }

  /** Makes a limiter for each history, and draws the terms that it promises. */
  @FunctionalInterface
  interface Maker {
    /** Makes a limiter without any state of earlier ones. */
    Limiter make(Setting setting);

    /** Draws terms that the limiter can keep, with the slack, lateness and grain that it needs. */
    default Terms terms(Random random) {
      return Terms.any(random);
    }
  }
}

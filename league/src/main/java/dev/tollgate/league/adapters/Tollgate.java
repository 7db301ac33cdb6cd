package dev.tollgate.league.adapters;

import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.testing.limiter.TollgateLimiter;
import dev.tollgate.lawbook.Limiter;

/**
 * Tollgate's buckets, over queues and tables in memory.
 *
 * <p>docs/explanation/guarantees.md promises at most "capacity + rate × w + one minute's tokens"
 * (slack), tokens at most 2 s late, 67 s with direct fills (lateness), and 3 min until a change or
 * a fault has no more effect (grain).
 */
public final class Tollgate {
  private static final int FAULTS_PER_MILLE = 100;

  private Tollgate() {}

  /** Buckets that are filled in this mode, without faults. */
  public static Limiter.Maker maker(FillMode mode) {
    return TollgateLimiter.inMemory(terms -> new FillPolicy(mode, 0), 0);
  }

  /**
   * The same, claimed by three processes that prefetch. Each spends and leases tokens ahead, which
   * the others cannot claim. The Javadoc of {@code TollgateClientBuilder.prefetch} says that spent
   * tokens may be lost; docs/explanation/guarantees.md does not, so it is judged by the same terms.
   */
  public static Limiter.Maker prefetching(FillMode mode) {
    return TollgateLimiter.inMemory(
        terms -> new FillPolicy(mode, 0), 0, TollgateLimiter.Keeping.TOKENS, queue -> queue);
  }

  /**
   * The same, with faults of queues, tables, schedules and functions. Their effects are counted as
   * they strike, and the laws allow them.
   */
  public static Limiter.Maker withFaults(FillMode mode) {
    return TollgateLimiter.inMemory(terms -> new FillPolicy(mode, 0), FAULTS_PER_MILLE);
  }
}

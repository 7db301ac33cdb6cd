package dev.tollgate.core.history;

import dev.tollgate.core.Action;
import dev.tollgate.core.connect.Refusal;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BinaryOperator;

/**
 * What happened to a tenant, or to all of them, in a time.
 *
 * @param admitted connections that were admitted, less those that were undone: negative if the
 *     connection was counted before
 * @param refused connections of existing sessions that were refused, by reason, except those that
 *     {@link dev.tollgate.core.connect.RefusalTally} lost
 * @param wouldRefuse admitted connections that an observed limit would have refused, by reason,
 *     with the same exception
 * @param peak the most open connections after a change; of all tenants, the largest sum of the
 *     peaks of tenants whose changes came in one batch
 * @param tokens the tokens of each bucket, unless its own schedule fills it
 */
public record Counts(
    long admitted,
    Map<Refusal, Long> refused,
    Map<Refusal, Long> wouldRefuse,
    long peak,
    Map<Action, Tokens> tokens) {
  /** Nothing happened. */
  public static final Counts NONE = new Counts(0, Map.of(), 0, Map.of());

  /** Copies the maps. */
  public Counts {
    refused = Map.copyOf(refused);
    wouldRefuse = Map.copyOf(wouldRefuse);
    tokens = Map.copyOf(tokens);
  }

  /** Counts of a time in which no limit was observed. */
  public Counts(long admitted, Map<Refusal, Long> refused, long peak, Map<Action, Tokens> tokens) {
    this(admitted, refused, Map.of(), peak, tokens);
  }

  /**
   * Tokens of a bucket.
   *
   * @param minted tokens that were added
   * @param taken tokens that left it: claimed, removed because of a lower capacity, expired, or
   *     lost because the queue did not answer a fill. Negative if tokens came back that were
   *     counted before
   */
  public record Tokens(long minted, long taken) {
    /** The sum. */
    public Tokens plus(Tokens other) {
      return new Tokens(minted + other.minted, taken + other.taken);
    }
  }

  /** The counts of two parts of the same time, or of two times of one tenant. */
  public Counts plus(Counts other) {
    return plus(other, Math.max(peak, other.peak));
  }

  /** The counts of two tenants in the same time. */
  public Counts besides(Counts other) {
    return plus(other, peak + other.peak);
  }

  private Counts plus(Counts other, long openAtMost) {
    return new Counts(
        admitted + other.admitted,
        sum(refused, other.refused, Long::sum),
        sum(wouldRefuse, other.wouldRefuse, Long::sum),
        openAtMost,
        sum(tokens, other.tokens, Tokens::plus));
  }

  private static <K, V> Map<K, V> sum(Map<K, V> one, Map<K, V> other, BinaryOperator<V> plus) {
    Map<K, V> both = new HashMap<>(one);
    other.forEach((key, value) -> both.merge(key, value, plus));
    return both;
  }

  /** Whether nothing happened. */
  public boolean isNothing() {
    return equals(NONE);
  }

  /** Whether connections were refused, or would have been. */
  public boolean hasRefusals() {
    return !refused.isEmpty() || !wouldRefuse.isEmpty();
  }

  /** These counts with another peak. */
  public Counts withPeak(long other) {
    return new Counts(admitted, refused, wouldRefuse, other, tokens);
  }

  /** The refused connections of all reasons. */
  public long refusedInAll() {
    return refused.values().stream().mapToLong(Long::longValue).sum();
  }

  /** The connections of all reasons that observed limits would have refused. */
  public long wouldRefuseInAll() {
    return wouldRefuse.values().stream().mapToLong(Long::longValue).sum();
  }
}

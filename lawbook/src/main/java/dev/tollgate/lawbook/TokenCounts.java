package dev.tollgate.lawbook;

/**
 * A limiter's own counts of a tenant's tokens. Each number is counted independently, none is
 * computed from the others.
 *
 * @param minted created since the bucket was opened
 * @param spent used by admitted callers
 * @param expired removed because they were too old, exceeded the capacity, or were surplus after a
 *     retune
 * @param held in the bucket, available now or soon
 * @param inFlight held by a {@link Lease} that has not ended
 */
public record TokenCounts(long minted, long spent, long expired, long held, long inFlight) {
  /** Whether the numbers add up: minted = spent + expired + held + in flight. */
  public boolean balances() {
    return minted == spent + expired + held + inFlight && least() >= 0;
  }

  private long least() {
    return Math.min(Math.min(Math.min(minted, spent), expired), Math.min(held, inFlight));
  }

  @Override
  public String toString() {
    return "minted %d = spent %d + expired %d + held %d + in flight %d"
        .formatted(minted, spent, expired, held, inFlight);
  }
}

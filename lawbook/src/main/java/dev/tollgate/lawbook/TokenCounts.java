package dev.tollgate.lawbook;

/**
 * What a limiter knows of a tenant's tokens, each number counted for itself, none reckoned from the
 * others.
 *
 * @param minted made since the bucket was opened
 * @param spent used up by whoever was admitted
 * @param expired gone otherwise: too old, too many, or surplus after a retune
 * @param held lying in the bucket, to be had now or soon
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

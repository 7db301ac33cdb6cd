package dev.tollgate.core.testing;

import java.time.Duration;
import java.time.Instant;

/**
 * The law of a token bucket: in no time of w minutes are more than capacity + rate × w admitted,
 * but for some slack. It is kept for all such times at once: what was admitted is a level that
 * drains at the rate and never exceeds capacity and slack.
 */
public final class Law {
  private final long perMinute;
  private final long most;
  private double level;
  private double highest;
  private Instant last = Instant.MIN;

  /** A law for a bucket of so many a minute. */
  public Law(long perMinute, long capacity, long slack) {
    this.perMinute = perMinute;
    this.most = capacity + slack;
  }

  /** Notes that so many were admitted at {@code now}, which is no earlier than the last time. */
  public void admitted(long tokens, Instant now) {
    if (!last.equals(Instant.MIN)) {
      double drained = Duration.between(last, now).toMillis() * (double) perMinute / 60_000;
      level = Math.max(0, level - drained);
    }
    last = now;
    level += tokens;
    highest = Math.max(highest, level);
  }

  /** Whether it has been kept. */
  public boolean isKept() {
    return highest <= most + 1e-6;
  }

  @Override
  public String toString() {
    return "at most " + most + ", seen " + highest;
  }
}

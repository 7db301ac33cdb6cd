package dev.tollgate.core.enforcement;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * The switch is on: until an instant, no limit refuses anybody.
 *
 * @param since when it was turned on
 * @param until when it turns itself off; after {@code since}, and at most {@link #LONGEST} later
 * @param reason why, for everybody who sees it; 1 to {@value #MAX_REASON} characters on one line
 * @param by who turned it on
 */
public record AdmitAll(Instant since, Instant until, String reason, String by) {
  /** The longest time that it stays on. Who needs more time turns it on again. */
  public static final Duration LONGEST = Duration.ofHours(24);

  private static final int MAX_REASON = 200;

  /**
   * Checks the values.
   *
   * @throws InvalidValue if a value is out of range
   */
  public AdmitAll {
    InvalidValue.unless(
        since.isBefore(until) && !since.plus(LONGEST).isBefore(until),
        "until",
        until,
        "after " + since + " and at most 24 hours later");
    InvalidValue.unless(
        !reason.isBlank()
            && reason.length() <= MAX_REASON
            && reason.chars().noneMatch(Character::isISOControl),
        "reason",
        reason,
        "1 to " + MAX_REASON + " characters on one line");
  }

  /** Whether it is on at {@code now}. */
  public boolean isOnAt(Instant now) {
    return now.isBefore(until);
  }
}

package dev.tollgate.client;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in the line of a bucket. Its caller keeps it and redeems it with {@link
 * TokenBucket#claim(Place)} at its slot, {@link Claim.Denied#retryAt}.
 *
 * <p>{@link #toString} and {@link #parse} are inverse, so an application can store a place or hand
 * it to its user. A place is no secret and not signed: whoever knows the form can make one up. A
 * place that was never taken is void. Whoever redeems a place uses it up for its owner. If that
 * matters, keep places on the server, for example in the user's session.
 *
 * @param tenantId the tenant's id
 * @param action what the token pays for
 * @param line the number of the bucket's line, 0 or more; places of earlier lines are void
 * @param number the number of the place in its line, 1 or more
 */
public record Place(String tenantId, String action, long line, long number) {
  private static final String EXPECTED = "<tenantId>/<action>/<line>/<number>";

  /** A long has at most 19 digits. A leading zero would be another name of the same place. */
  private static final Pattern FORM =
      Pattern.compile("([^/]{1,36})/([^/]{1,20})/(0|[1-9][0-9]{0,18})/([1-9][0-9]{0,18})");

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a name is malformed or a number out of range
   */
  public Place {
    ClaimsClient.id(tenantId, action);
    InvalidValue.inRange("line", line, 0, Long.MAX_VALUE);
    InvalidValue.inRange("number", number, 1, Long.MAX_VALUE);
  }

  static Place of(BucketId bucket, dev.tollgate.core.bucket.Place place) {
    return new Place(
        bucket.tenant().value(), bucket.action().value(), place.epoch(), place.number());
  }

  /**
   * Reads a place from the text that {@link #toString} wrote.
   *
   * @throws IllegalArgumentException if the text is malformed
   */
  public static Place parse(String text) {
    InvalidValue.unless(text != null, "place", text, EXPECTED);
    Matcher parts = FORM.matcher(text);
    InvalidValue.unless(parts.matches(), "place", text, EXPECTED);
    try {
      return new Place(
          parts.group(1),
          parts.group(2),
          Long.parseLong(parts.group(3)),
          Long.parseLong(parts.group(4)));
    } catch (NumberFormatException tooLarge) {
      throw new InvalidValue("place", text, EXPECTED);
    }
  }

  /** The bucket in whose line the place is. */
  BucketId bucket() {
    return new BucketId(new TenantId(tenantId), new Action(action));
  }

  /** The place in the bucket's line. */
  dev.tollgate.core.bucket.Place inLine() {
    return new dev.tollgate.core.bucket.Place(line, number);
  }

  /** The text that {@link #parse} reads, such as {@code acme/send-email/3/17}. */
  @Override
  public String toString() {
    return tenantId + "/" + action + "/" + line + "/" + number;
  }
}

package dev.tollgate.core.idempotency;

import dev.tollgate.core.InvalidValue;
import java.util.regex.Pattern;

/** A client's key for one request: 1 to 255 characters of printable ASCII. */
public record IdempotencyKey(String value) {
  private static final Pattern SYNTAX = Pattern.compile("[ -~]{1,255}");

  /**
   * Checks the key.
   *
   * @throws InvalidValue if it has a character or a length that is not allowed
   */
  public IdempotencyKey {
    InvalidValue.unless(
        SYNTAX.matcher(value).matches(),
        "Idempotency-Key",
        value,
        "1 to 255 characters of printable ASCII");
  }

  @Override
  public String toString() {
    return value;
  }
}

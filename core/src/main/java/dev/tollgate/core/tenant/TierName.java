package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.util.regex.Pattern;

/** A tier's name: 1 to 32 lower-case letters, digits and hyphens, a letter first. */
public record TierName(String value) {
  private static final Pattern SYNTAX = Pattern.compile("[a-z][a-z0-9-]{0,31}");
  private static final String EXPECTED =
      "1 to 32 lower-case letters, digits and hyphens; a letter first";

  /**
   * Checks the name.
   *
   * @throws InvalidValue if it has a character or a length that is not allowed
   */
  public TierName {
    InvalidValue.unless(SYNTAX.matcher(value).matches(), "tier", value, EXPECTED);
  }

  @Override
  public String toString() {
    return value;
  }
}

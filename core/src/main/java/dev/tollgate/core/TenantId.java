package dev.tollgate.core;

import java.util.regex.Pattern;

/**
 * A tenant's id: 1 to 36 lower-case letters, digits and hyphens, not beginning with a hyphen. It
 * contains no underscore, so two buckets never share a queue name.
 */
public record TenantId(String value) {
  private static final Pattern SYNTAX = Pattern.compile("[a-z0-9][a-z0-9-]{0,35}");
  private static final String EXPECTED =
      "1 to 36 lower-case letters, digits and hyphens; no hyphen first";

  /**
   * Checks the id.
   *
   * @throws InvalidValue if it has a character or a length that is not allowed
   */
  public TenantId {
    InvalidValue.unless(SYNTAX.matcher(value).matches(), "tenantId", value, EXPECTED);
  }

  @Override
  public String toString() {
    return value;
  }
}

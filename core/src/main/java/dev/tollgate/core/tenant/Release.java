package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;

/**
 * The code and the configuration that messages are processed with, as they were deployed together.
 *
 * @param value names it; two that have one name are the same
 */
public record Release(String value) {
  /**
   * Checks the name.
   *
   * @throws InvalidValue if it is empty
   */
  public Release {
    InvalidValue.unless(!value.isEmpty(), "release", value, "a name");
  }

  @Override
  public String toString() {
    return value;
  }
}

package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;

/**
 * A deployed version of the message processor: its code and configuration.
 *
 * @param value identifies the release
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

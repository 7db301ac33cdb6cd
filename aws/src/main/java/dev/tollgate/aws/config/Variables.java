package dev.tollgate.aws.config;

import java.util.Map;
import java.util.Optional;

/** The environment variables of a function. An empty value counts as missing. */
final class Variables {
  private final Map<String, String> values;

  Variables(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  Map<String, String> all() {
    return values;
  }

  Optional<String> optional(String name) {
    return Optional.ofNullable(values.get(name)).filter(value -> !value.isEmpty());
  }

  /**
   * The value of a variable.
   *
   * @throws MissingVariable if it is not set
   */
  String required(String name) {
    return optional(name).orElseThrow(() -> new MissingVariable(name));
  }
}

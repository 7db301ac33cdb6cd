package dev.tollgate.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class InvalidValueTest {
  @Test
  void long_value_is_truncated_between_characters() {
    String ninetyNine = "a".repeat(99);

    assertThat(new InvalidValue("field", ninetyNine + "bcd", "shorter").value())
        .isEqualTo(ninetyNine + "b…");
    assertThat(new InvalidValue("field", ninetyNine + "\uD83D\uDE80d", "shorter").value())
        .isEqualTo(ninetyNine + "…");
  }
}

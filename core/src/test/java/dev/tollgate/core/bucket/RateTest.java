package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RateTest {
  private static Rate rate(String perMinute) {
    return Rate.perMinute(new BigDecimal(perMinute));
  }

  @ParameterizedTest
  @CsvSource({
    "0.000001, 1, 1",
    "0.2, 200000, 1",
    "1, 1000000, 1",
    "1.000001, 1000001, 2",
    "60000, 60000000000, 60000",
    "6e4, 60000000000, 60000"
  })
  void decimal_is_counted_in_millionths_and_rounded_up_to_whole_tokens(
      String perMinute, long micro, long ceiling) {
    assertThat(rate(perMinute)).isEqualTo(new Rate(micro));
    assertThat(rate(perMinute).ceiling()).isEqualTo(ceiling);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "0", "0.0000001", "0.0000009", "1.0000001", "60000.000001"})
  void decimal_out_of_range_or_with_seven_places_is_refused(String perMinute) {
    assertThatThrownBy(() -> rate(perMinute))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("0.000001 to 60000, at most six decimals");
  }

  @Test
  void whole_number_and_millionths_have_the_same_range() {
    assertThat(Rate.perMinute(1)).isEqualTo(rate("1"));
    assertThat(Rate.perMinute(60_000)).isEqualTo(Rate.MAX);
    assertThatThrownBy(() -> Rate.perMinute(0)).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> Rate.perMinute(60_001)).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> new Rate(0)).hasMessageContaining("ratePerMinute: 0.000000");
    assertThatThrownBy(() -> new Rate(60_000_000_001L)).isInstanceOf(InvalidValue.class);
  }

  @ParameterizedTest
  @CsvSource({"0.2, 0.2", "1.50, 1.5", "10, 10", "60000, 60000"})
  void text_has_no_trailing_zeros_and_no_exponent(String perMinute, String text) {
    assertThat(rate(perMinute)).hasToString(text + " a minute");
    assertThat(rate(perMinute).tokensPerMinute()).hasToString(text);
    assertThat(rate(perMinute).average(7)).isEqualTo(rate(perMinute));
  }
}

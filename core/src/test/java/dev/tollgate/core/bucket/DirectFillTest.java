package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which buckets a schedule alone can fill, and how. */
final class DirectFillTest {
  private static BucketSpec direct(String perMinute, long capacity) {
    return new BucketSpec(
        Rate.perMinute(new BigDecimal(perMinute)), capacity, new FillPolicy(FillMode.DIRECT, 15));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 1, 60",
    "10, 10, 10, 60",
    "6, 12, 6, 120",
    "4, 6, 4, 90",
    "1, 20160, 1, 1209600"
  })
  void tokens_of_a_minute_expire_when_the_bucket_would_be_full(
      String perMinute, long capacity, int tokens, long seconds) {
    assertThat(DirectFill.of(direct(perMinute, capacity)))
        .isEqualTo(new DirectFill(tokens, Duration.ofSeconds(seconds)));
  }

  @ParameterizedTest
  @CsvSource({
    "0.5, 10, 1 to 10 whole tokens",
    "1.5, 10, 1 to 10 whole tokens",
    "11, 11, 1 to 10 whole tokens",
    "6, 5, the capacity is at least 6",
    "1, 20161, the capacity is at most 20160"
  })
  void rate_that_no_schedule_sends_and_capacity_that_no_expiry_keeps_are_refused(
      String perMinute, long capacity, String expected) {
    assertThatThrownBy(() -> direct(perMinute, capacity))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining(expected);
  }
}

package dev.tollgate.local.cloudwatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MetricMathTest {
  private static final Map<String, OptionalDouble> PERIOD =
      new HashMap<>(
          Map.of(
              "m1", OptionalDouble.of(6),
              "m2", OptionalDouble.of(2),
              "none", OptionalDouble.empty()));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "m1                                          | 6",
        "2.5                                         | 2.5",
        "m1 - m2 - 1                                 | 3",
        "m1 + m2 * 10                                | 26",
        "(m1 + m2) * 10                              | 80",
        "100 * m2 / m1 > 33                          | 1",
        "m1 >= 6                                     | 1",
        "m1 != 6                                     | 0",
        "m1 / 0                                      |",
        "none                                        |",
        "m1 + none                                   |",
        "FILL(none,0)                                | 0",
        "FILL(m1,0)                                  | 6",
        "SUM([m1,m2,none])                           | 8",
        "SUM([none])                                 |",
        "MIN([m1,FILL(none,0)])                      | 0",
        "MAX([FILL(none,0),m1])                      | 6",
        "IF(MIN([FILL(m1,0),FILL(none,0)])<1, 1, 0)  | 1",
        "IF(m1 > 100, none, 0)                       | 0",
        "IF(m1 > 1, none, 0)                         |",
        "IF(none > 1, 1, 0)                          |",
        "IF(SUM([m1,m2]) > 7, 100 * SUM([m1]) / 8, 0) | 75",
      })
  void values_of_a_period(String expression, Double value) {
    assertThat(new MetricMath(expression).in(PERIOD))
        .isEqualTo(value == null ? OptionalDouble.empty() : OptionalDouble.of(value));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "STDDEV(m1)       | STDDEV (expected: a number, a metric, FILL, IF, MAX, MIN, SERVICE_QUOTA or SUM)",
        "SUM(m1)          | m1 (expected: [)",
        "FILL(m1, REPEAT) | REPEAT (expected: a number, a metric, FILL, IF, MAX, MIN, SERVICE_QUOTA or SUM)",
        "FILL(m1)         | 1 arguments (expected: 2)",
        "m1 ^ 2           | ^ (expected: the end of m1 ^ 2)",
        "m1 +             | m1 + (expected: more at the end)",
      })
  void an_unknown_expression_is_refused_by_name(String expression, String message) {
    assertThatThrownBy(() -> new MetricMath(expression))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}

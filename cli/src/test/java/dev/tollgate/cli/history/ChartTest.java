package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.history.Chart.Bar;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChartTest {
  @Test
  void bars_end_in_eighths_and_any_value_shows() {
    List<Bar> steps =
        List.of(
            new Bar("a", 1000, 0),
            new Bar("b", 750, 125),
            new Bar("c", 1, -3),
            new Bar("d", 938, 63));

    assertThat(Chart.lines(steps, 19))
        .containsExactly(
            "   ADMITTED  REFUSED", // the width is 2, which is too little for headings
            "a  ██ 1000  0",
            "b  █▌ 750   ▎ 125",
            "c  ▏ 1      -3",
            "d  █▉ 938   ▏ 63");
  }

  @ParameterizedTest
  @ValueSource(ints = {40, 80, 81, 200})
  void a_line_is_not_wider_than_the_terminal(int columns) {
    List<Bar> steps = List.of(new Bar("2026-03-12T14:00:00Z", 98765, 98765));

    assertThat(Chart.lines(steps, columns).get(1).length()).isBetween(columns - 1, columns);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 72, 73, 145, 1500})
  void steps_share_a_line_if_there_are_many(int count) {
    List<Bar> steps =
        IntStream.range(0, count).mapToObj(i -> new Bar(Integer.toString(i), 1, 0)).toList();

    List<String> lines = Chart.lines(steps, 80);

    assertThat(lines).hasSizeBetween(2, Chart.MAX_ROWS + 1);
    assertThat(
            lines.stream()
                .skip(1)
                .mapToInt(line -> Integer.parseInt(line.replaceFirst(".*[█-▏] (\\d+).*", "$1")))
                .sum())
        .isEqualTo(count);
  }
}

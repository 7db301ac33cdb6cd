package dev.tollgate.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RowTest {
  @Test
  void rows_are_a_markdown_table() {
    assertThat(Row.table(List.of(new Row("a", "1 | 2", "at most\n  2"), new Row("b", "", ""))))
        .containsExactly(
            "| measured | found | wanted |",
            "| --- | --- | --- |",
            "| a | 1 \\| 2 | at most 2 |",
            "| b |  |  |");
  }

  @Test
  void rows_with_earlier_figures_have_a_column_for_them() {
    assertThat(Row.table(List.of(new Row("a", "9 s", "1 s", "2 s"), new Row("b", "", ""))))
        .containsExactly(
            "| attack | found before | found | wanted |",
            "| --- | --- | --- | --- |",
            "| a | 9 s | 1 s | 2 s |",
            "| b |  |  |  |");
  }
}

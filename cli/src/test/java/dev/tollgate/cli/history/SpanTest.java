package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpanTest {
  private static final Instant TO = Instant.parse("2026-03-12T15:00:00Z");

  private static Span last(String time) {
    return new Span(TO.minus(Span.duration(time)), TO);
  }

  @ParameterizedTest
  @CsvSource({
    "1m, 1m",
    "60m, 1m",
    "61m, 5m",
    "5h, 5m",
    "299m, 5m",
    "301m, 15m",
    "15h, 15m",
    "1d, 1h",
    "3d, 6h",
    "7d, 6h",
    "31d, 1d"
  })
  void there_are_at_most_60_steps_by_default(String time, String step) {
    assertThat(Span.text(last(time).step())).isEqualTo(step);
    assertThat(last(time).steps(last(time).step())).hasSizeBetween(1, 60);
  }

  @Test
  void a_step_that_is_cut_counts() {
    Span cut = new Span(TO.minusSeconds(60), TO.plus(Span.duration("299m")));

    assertThat(Span.text(cut.step())).isEqualTo("15m");
  }

  @ParameterizedTest
  @CsvSource({"1m, 1", "25h, 1", "1501m, 2", "7d, 7", "31d, 30"})
  void parts_have_no_gap_and_no_more_steps_than_a_request_may(String time, int parts) {
    Span span = last(time);

    assertThat(span.parts()).hasSize(parts).allMatch(part -> part.minutes() <= Span.MAX_STEPS);
    assertThat(span.parts().stream().mapToLong(Span::minutes).sum()).isEqualTo(span.minutes());
    assertThat(span.parts().get(parts - 1).to()).isEqualTo(TO);
  }
}

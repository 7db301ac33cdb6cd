package dev.tollgate.core.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimelineTest {
  private static final Instant NOON = Instant.parse("2026-03-12T12:00:00Z");
  private static final Span HOUR = new Span(NOON, NOON.plusSeconds(3_600));

  private static Counts admitted(long count, long peak) {
    return new Counts(count, Map.of(), peak, Map.of());
  }

  private static SortedMap<Instant, Counts> minutes(int... minutes) {
    SortedMap<Instant, Counts> all = new TreeMap<>();
    for (int minute : minutes) {
      all.put(NOON.plusSeconds(minute * 60L), admitted(1, minute));
    }
    return all;
  }

  @Test
  void steps_add_up_their_minutes() {
    assertThat(Timeline.of(minutes(3, 14, 15, 29, 59), HOUR, Duration.ofMinutes(15)))
        .isEqualTo(
            Map.of(
                NOON,
                admitted(2, 14),
                NOON.plusSeconds(900),
                admitted(2, 29),
                NOON.plusSeconds(2_700),
                admitted(1, 59)));
  }

  @Test
  void steps_begin_at_multiples_of_their_length() {
    Span cut = new Span(NOON.plusSeconds(600), NOON.plusSeconds(3_600));

    assertThat(Timeline.of(minutes(10, 29, 30), cut, Duration.ofMinutes(30)).keySet())
        .containsExactly(NOON, NOON.plusSeconds(1_800));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT30S", "PT61S", "PT-1M"})
  void a_step_has_whole_minutes(String step) {
    assertThatThrownBy(() -> Timeline.check(HOUR, Duration.parse(step)))
        .isInstanceOf(InvalidValue.class);
  }

  @Test
  void the_number_of_steps_is_limited() {
    Span most = new Span(NOON, NOON.plus(Duration.ofMinutes(Timeline.MAX_STEPS)));
    Timeline.check(most, Duration.ofMinutes(1));
    Span more = new Span(NOON, most.to().plusSeconds(60));
    assertThatThrownBy(() -> Timeline.check(more, Duration.ofMinutes(1)))
        .hasMessageContaining("1501");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-03-12T12:00:01Z,2026-03-12T13:00:00Z,from",
    "2026-03-12T12:00:00Z,2026-03-12T12:00:00.5Z,to",
    "2026-03-12T12:00:00Z,2026-03-12T12:00:00Z,to",
    "2026-03-12T12:00:00Z,2027-04-16T12:01:00Z,from"
  })
  void a_span_has_a_minute_to_400_days(Instant from, Instant to, String field) {
    assertThatThrownBy(() -> new Span(from, to)).hasMessageStartingWith(field + ":");
  }

  @Test
  void the_longest_span() {
    assertThat(new Span(NOON, NOON.plus(Span.LONGEST)).to())
        .isEqualTo(Instant.parse("2027-04-16T12:00:00Z"));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 16})
  void the_last_minutes_are_at_most_a_quarter_of_an_hour(long minutes) {
    assertThatThrownBy(() -> Span.lately(NOON, Duration.ofMinutes(minutes)))
        .hasMessageStartingWith("window:");
  }
}

package dev.tollgate.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.session.SessionId;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogTextTest {
  private static final String SECRET = "0123456789abcdef0123456789abcdef";

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "plain, `\"plain\"`",
        "`a\nb`, `\"a\\u000ab\"`",
        "`a\r\u001b[31mb`, `\"a\\u000d\\u001b[31mb\"`",
        "`say \"x\"\\`, `\"say \\\"x\\\"\\\\\"`",
        "`a\u2028\u202eb\u0085`, `\"a\\u2028\\u202eb\\u0085\"`",
        "größe, `\"größe\"`",
      })
  void value_is_escaped(String value, String quoted) {
    assertThat(LogText.quoted(value)).isEqualTo(quoted);
  }

  @Test
  void value_is_truncated_between_characters() {
    assertThat(LogText.quoted("😀".repeat(1_000))).isEqualTo("\"" + "😀".repeat(100) + "…\"");
  }

  @Test
  void possible_session_id_is_hidden_in_lower_and_upper_case() {
    String upper = "0123456789ABCDEF0123456789ABCDEF";

    assertThat(LogText.quoted("a" + upper + "/x")).isEqualTo("\"[hidden]/x\"");
    assertThat(LogText.lines("error in " + SECRET)).isEqualTo("error in [hidden]");
  }

  @Test
  void lines_after_the_first_are_indented_without_control_characters() {
    assertThat(LogText.lines("broken: \u001b[2K\n\tat here\r\nforged line\n"))
        .isEqualTo("broken: \\u001b[2K\n\tat here\n\tforged line");
  }

  @Test
  void random_text_has_no_unindented_line_after_the_first() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      String text =
          random
              .ints(random.nextInt(60), 0, 0x300)
              .map(c -> c < 0x60 ? "\n\r\t\u0085\u2028\"\\a".charAt(c % 8) : c)
              .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
              .toString();

      assertThat(LogText.quoted(text)).as("seed %d", seed).doesNotContainPattern("\\p{Cntrl}");
      assertThat(LogText.lines(text).split("\\R", -1))
          .as("seed %d", seed)
          .allSatisfy(line -> assertThat(line.strip()).doesNotContainPattern("\\p{Cntrl}"));
      assertThat(LogText.lines(text)).as("seed %d", seed).doesNotContainPattern("\\R(?!\t)");
    }
  }

  @Test
  void refused_value_is_logged_escaped_and_a_session_id_is_not_logged() {
    assertThat(new InvalidValue("tenantId", "a\nb", "x").logged())
        .isEqualTo("tenantId: \"a\\u000ab\" (expected: x)");
    for (String session : new String[] {SECRET.toUpperCase(java.util.Locale.ROOT), SECRET + "\n"}) {
      try {
        assertThat(new SessionId(session)).isNull();
      } catch (InvalidValue refused) {
        assertThat(refused.logged()).isEqualTo("sessionId: [hidden] (expected: [0-9a-f]{32})");
        assertThat(refused.within("frame").logged()).startsWith("frame.sessionId: [hidden]");
        assertThat(refused.value()).isEqualTo(session);
      }
    }
  }
}

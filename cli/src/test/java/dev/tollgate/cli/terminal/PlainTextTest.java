package dev.tollgate.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlainTextTest {
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "plain \"text\" \\, `plain \"text\" \\`",
        "größe 😀, größe 😀",
        "`a\n\tb`, `a\n\tb`",
        "`a\r\u001b[31mb\u0007`, `a\\u000d\\u001b[31mb\\u0007`",
        "`a\u009b31m\u0085\u007f`, `a\\u009b31m\\u0085\\u007f`",
        "`a\u2028\u2029\u202eb\u200b`, `a\\u2028\\u2029\\u202eb\\u200b`",
        "`a\udb40\udc41`, `a\\udb40\\udc41`",
      })
  void characters_that_control_reorder_or_hide_text_are_escaped(String text, String shown) {
    assertThat(PlainText.of(text)).isEqualTo(shown);
  }
}

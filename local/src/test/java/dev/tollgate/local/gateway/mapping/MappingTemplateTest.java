package dev.tollgate.local.gateway.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MappingTemplateTest {
  @Test
  void text_is_escaped_for_a_string_of_javascript() throws Exception {
    assertThat(
            new MappingTemplate.Utilities()
                .escapeJavaScript("it's \"a\\b\" </x>\n\r\t\b\f\u001f \u00e4 \u20ac \ud83d\ude00"))
        .isEqualTo(
            "it\\'s \\\"a\\\\b\\\" <\\/x>\\n\\r\\t\\b\\f\\u001F \\u00E4 \\u20AC \\uD83D\\uDE00");
  }
}

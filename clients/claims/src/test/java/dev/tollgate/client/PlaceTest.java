package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

final class PlaceTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "acme/send-email/3/17",
        "a/b/0/1",
        "acme/b/9223372036854775807/9223372036854775807"
      })
  void parse_reads_what_toString_wrote(String text) {
    assertThat(Place.parse(text)).hasToString(text);
  }

  @Test
  void place_has_the_parts_of_its_text() {
    assertThat(Place.parse("acme/send-email/3/17"))
        .isEqualTo(new Place("acme", "send-email", 3, 17));
  }

  @ParameterizedTest
  @NullAndEmptySource
  @ValueSource(
      strings = {
        "acme",
        "acme/send-email/3",
        "acme/send-email/3/17/",
        "acme/send-email/3/17/5",
        " acme/send-email/3/17",
        "acme/send-email/3/17\n",
        "acme/send-email/-3/17",
        "acme/send-email/3/-17",
        "acme/send-email/+3/17",
        "acme/send-email/03/17",
        "acme/send-email/3/0",
        "acme/send-email/3/017",
        "acme/send-email/3/1e3",
        "acme/send-email/3/\u0661",
        "acme/send-email/3/9223372036854775808",
        "acme/send-email/99999999999999999999/1",
        "Acme/send-email/3/17",
        "acme/Send/3/17",
        "/send-email/3/17",
        "a_b/send-email/3/17",
        "../../3/17"
      })
  void malformed_text_is_rejected(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Place.parse(text))
        .withMessageContaining("(expected: ");
  }

  @Test
  void huge_text_is_rejected_and_shortened_in_the_error() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Place.parse("a/".repeat(1_000_000)))
        .satisfies(rejected -> assertThat(rejected.getMessage()).hasSizeLessThan(200));
  }
}

package dev.tollgate.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CursorTest {
  private static final String CURSOR = Cursor.encode("tenants", "acme");

  private static void assertRefused(String listing, String cursor) {
    assertThatThrownBy(() -> Cursor.decode(listing, cursor))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("cursor");
  }

  @Test
  void decode_returns_the_encoded_position() {
    assertThat(Cursor.decode("tenants", CURSOR)).isEqualTo("acme");
    assertThat(CURSOR).matches("[A-Za-z0-9_-]+");
  }

  @Test
  void a_cursor_of_another_listing_is_refused() {
    assertRefused("tenants of tier gold", CURSOR);
    assertRefused("tenants of tier gold", Cursor.encode("tenants of tier bronze", "acme"));
  }

  @Test
  void a_cursor_with_any_change_is_refused() {
    for (int i = 0; i < CURSOR.length(); i++) {
      char other = CURSOR.charAt(i) == 'A' ? 'B' : 'A';
      assertRefused("tenants", CURSOR.substring(0, i) + other + CURSOR.substring(i + 1));
      assertRefused("tenants", CURSOR.substring(0, i));
    }
    assertRefused("tenants", CURSOR + "A");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "!", "acme", "QUNNRQ", "=", "AAAAAAAAAAA", "a b"})
  void a_text_that_is_not_a_cursor_is_refused(String text) {
    assertRefused("tenants", text);
  }

  @Test
  void a_position_without_checksum_is_refused() {
    String plain =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString("a-tenant-of-some-length".getBytes(StandardCharsets.UTF_8));
    assertRefused("tenants", plain);
  }
}

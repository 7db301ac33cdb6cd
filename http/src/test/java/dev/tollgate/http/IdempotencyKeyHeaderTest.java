package dev.tollgate.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class IdempotencyKeyHeaderTest {
  private static Request request(String header) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("POST /tenants");
    event.getHeaders().put("idempotency-key", header);
    return new Request(event, new RecordingContext(Duration.ofSeconds(10)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "\"a\" | a",
        "' \"a b\" ' | a b",
        "\"a\\\"b\\\\c\" | a\"b\\c",
        "\"8e03978e-40d5-43dd-bc93-6894a57f9324\" | 8e03978e-40d5-43dd-bc93-6894a57f9324",
      })
  void a_structured_field_string_is_a_key(String header, String key) {
    assertThat(IdempotencyKeyHeader.of(request(header))).contains(new IdempotencyKey(key));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a",
        "\"a",
        "a\"",
        "\"\"",
        "\"a\"b\"",
        "\"a\",\"b\"",
        "\"a\";b",
        "\"\\a\"",
        "\"ä\"",
        "\"a\tb\"",
        "'a'",
        "?1"
      })
  void a_malformed_header_is_refused(String header) {
    assertThatThrownBy(() -> IdempotencyKeyHeader.of(request(header)))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("Idempotency-Key");
  }

  @Test
  void a_key_has_at_most_255_characters() {
    assertThat(IdempotencyKeyHeader.of(request('"' + "a".repeat(255) + '"'))).isPresent();
    assertThatThrownBy(() -> IdempotencyKeyHeader.of(request('"' + "a".repeat(256) + '"')))
        .isInstanceOf(InvalidValue.class);
  }

  @Test
  void a_request_without_the_header_has_no_key() {
    Request without =
        new Request(
            HttpApiEvents.of("POST /tenants"), new RecordingContext(Duration.ofSeconds(10)));
    assertThat(IdempotencyKeyHeader.of(without)).isEmpty();
  }

  @Test
  void a_very_long_header_is_refused() {
    assertThatThrownBy(() -> IdempotencyKeyHeader.of(request("\"" + "\\\\".repeat(5_000) + "\"")))
        .isInstanceOf(InvalidValue.class);
  }
}

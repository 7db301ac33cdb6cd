package dev.tollgate.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e400",
        "-0.10",
        "true",
        "null",
        "\"a\\u0041 \\\" b\"",
        "\"\uD83D\uDE00 é\"",
        "[1 , [ ] , {\"a\":  1.0}]",
        "{\"message\": {\"id\": \"x\"}}",
        "123456789012345678901234567890"
      })
  void members_keep_their_bytes(String value) {
    for (String text :
        new String[] {
          "{\"type\":\"reply\",\"message\":" + value + "}",
          "{\"message\" : " + value + " , \"type\":\"reply\"}"
        }) {
      assertThat(Json.object(text).raw("message")).as(text).contains(value);
    }
  }

  @Test
  void long_members_keep_their_bytes() {
    String value = "{\"a\":\"" + "ü".repeat(100_000) + "\",\"b\":[" + "1,".repeat(50_000) + "1]}";

    assertThat(Json.object("{\"id\":\"i\",\"message\":" + value + ",\"z\":1}").raw("message"))
        .contains(value);
  }

  @Test
  void nested_messages_are_read() {
    String value = "[".repeat(1000) + "]".repeat(1000);

    assertThat(Json.isValue(value)).isTrue();
    assertThat(Json.object("{\"message\":" + value + "}").raw("message")).contains(value);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "{", "{\"a\":1}{", "{} 1", "a", "\"", "[1,]", "1 2"})
  void text_that_is_not_one_value_is_none(String text) {
    assertThat(Json.isValue(text)).isFalse();
    assertThat(Json.object(text).raw("a")).isEmpty();
  }

  @Test
  void members_are_read_by_type() {
    Json json =
        Json.object("{\"a\":\"\\u0041\",\"n\":12,\"f\":1.5,\"o\":{\"x\":\"y\"},\"b\":true}");

    assertThat(json.text("a")).contains("A");
    assertThat(json.text("n")).isEmpty();
    assertThat(json.number("n")).hasValue(12);
    assertThat(json.number("f")).isEmpty();
    assertThat(json.child("o").text("x")).contains("y");
    assertThat(json.child("missing").text("x")).isEqualTo(Optional.empty());
    assertThat(json.raw("b")).contains("true");
  }
}

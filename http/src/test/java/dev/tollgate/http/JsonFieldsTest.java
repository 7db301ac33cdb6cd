package dev.tollgate.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonFieldsTest {
  @Test
  void fields_of_every_type_are_read() {
    JsonFields fields =
        JsonFields.of(
            " {\"text\":\"ü\",\"whole\":-7,\"decimal\":0.20,\"object\":{\"a\":1},\"status\":\"ACTIVE\"} ");

    assertThat(fields.names()).containsExactly("text", "whole", "decimal", "object", "status");
    assertThat(fields.text("text", "a text")).isEqualTo("ü");
    assertThat(fields.wholeNumber("whole", "a whole number")).isEqualTo(-7);
    assertThat(fields.optionalNumber("decimal", "a number").orElseThrow())
        .isEqualByComparingTo("0.2");
    assertThat(fields.object("object").wholeNumber("a", "a whole number")).isEqualTo(1);
    assertThat(fields.optionalOneOf("status", List.of(TenantStatus.ACTIVE)))
        .contains(TenantStatus.ACTIVE);
    assertThat(fields.optionalText("absent", "a text")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"{}\"",
        "{",
        "{}x",
        "{} {}",
        "{'a':1}",
        "{\"a\":}",
        "{\"a\":01}",
        "{\"a\":NaN}",
        "{\"a\":1,}",
        "// note\n{}",
        "{\"a\":1e99999999999}",
        "{a:1}",
      })
  void a_text_that_is_not_a_json_object_is_refused(String text) {
    assertThatThrownBy(() -> JsonFields.of(text))
        .isInstanceOfSatisfying(
            InvalidValue.class, refused -> assertThat(refused.field()).isEqualTo("body"));
  }

  @Test
  void objects_nested_too_deeply_are_refused() {
    assertThatThrownBy(() -> JsonFields.of("{\"a\":".repeat(40) + "1" + "}".repeat(40)))
        .isInstanceOf(InvalidValue.class);
  }

  @Test
  void a_repeated_name_is_refused_with_its_path() {
    assertThatThrownBy(() -> JsonFields.of("{\"a\":{\"b\":1,\"b\":1}}"))
        .hasMessage("a.b: given twice (expected: given once)");
  }

  @Test
  void an_unknown_field_is_refused_with_its_value() {
    JsonFields fields = JsonFields.of("{\"a\":{\"c\":[1]}}");

    assertThatThrownBy(() -> fields.object("a").only("b"))
        .hasMessage("a.c: [1] (expected: a known field, one of: b)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"7\"",
        "7.0",
        "7e0",
        "null",
        "true",
        "[7]",
        "{}",
        "9223372036854775808",
        "1e400"
      })
  void wholeNumber_refuses_other_values(String value) {
    assertThatRefused(value, fields -> fields.wholeNumber("a", "a whole number"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\"0.2\"", "null", "false", "[]", "1e2147483647", "1e-2147483647", "1e101"})
  void optionalNumber_refuses_other_values(String value) {
    assertThatRefused(value, fields -> fields.optionalNumber("a", "a number"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "null", "{}", "[\"x\"]"})
  void text_refuses_other_values(String value) {
    assertThatRefused(value, fields -> fields.text("a", "a text"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"active\"", "\"OFFBOARDING\"", "0", "null"})
  void optionalOneOf_refuses_other_values(String value) {
    assertThatRefused(
        value,
        fields -> fields.optionalOneOf("a", List.of(TenantStatus.ACTIVE, TenantStatus.SUSPENDED)));
  }

  private static void assertThatRefused(String value, Consumer<JsonFields> reading) {
    JsonFields fields = JsonFields.of("{\"a\":" + value + "}");

    assertThatThrownBy(() -> reading.accept(fields))
        .isInstanceOfSatisfying(
            InvalidValue.class, refused -> assertThat(refused.field()).isEqualTo("a"));
  }
}

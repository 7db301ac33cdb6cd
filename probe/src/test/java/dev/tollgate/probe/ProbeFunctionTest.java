package dev.tollgate.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProbeFunctionTest {
  private static final String AUTHORIZER = "{\"type\":\"REQUEST\",\"methodArn\": \"arn:x\",";

  private static String query(String name, String value) {
    return "\"queryStringParameters\": {\"%s\": \"%s\"}}".formatted(name, value);
  }

  @ParameterizedTest
  @CsvSource({"allow, Allow", "deny, Deny", "other, Allow"})
  void the_query_string_decides_the_policy(String asked, String effect) {
    assertThat(ProbeFunction.answer(AUTHORIZER + query("authorizer", asked)))
        .contains("\"Effect\":\"" + effect + "\",\"Resource\":\"arn:x\"", "\"run\":\"none\"");
  }

  @Test
  void the_context_names_the_run() {
    assertThat(ProbeFunction.answer(AUTHORIZER + query("run", "a-1"))).contains("\"run\":\"a-1\"");
  }

  @ParameterizedTest
  @CsvSource({"200, 200", "429, 429", "503, 503", "99, 200"})
  void the_query_string_decides_the_status(String asked, String status) {
    assertThat(ProbeFunction.answer("{" + query("connect", asked)))
        .startsWith("{\"statusCode\":" + status + ",");
  }

  @ParameterizedTest
  @ValueSource(strings = {"authorizer", "connect"})
  void the_query_string_asks_for_an_exception(String who) {
    String start = who.equals("connect") ? "{" : AUTHORIZER;
    assertThatIllegalStateException()
        .isThrownBy(() -> ProbeFunction.answer(start + query(who, "throw")));
  }
}

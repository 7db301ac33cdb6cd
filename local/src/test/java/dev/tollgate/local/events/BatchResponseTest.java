package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BatchResponseTest {
  private static final List<String> BATCH = List.of("1", "2", "3");

  private static Set<String> failures(String answer) {
    return BatchResponse.failures(
        answer.replace('\'', '"').getBytes(StandardCharsets.UTF_8), BATCH);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "null", "{}", "{'batchItemFailures':[]}", "{'batchItemFailures':null}"})
  void answer_that_names_nothing_isSuccess(String answer) {
    assertThat(failures(answer)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'batch",
        "'ok'",
        "[]",
        "{'batchItemFailures':'1'}",
        "{'batchItemFailures':[{'itemIdentifier':''}]}",
        "{'batchItemFailures':[{'itemIdentifier':null}]}",
        "{'batchItemFailures':[{'id':'1'}]}",
        "{'batchItemFailures':[{'itemIdentifier':'1'},{'itemIdentifier':'4'}]}"
      })
  void answer_that_cannot_be_understood_fails_the_batch(String answer) {
    assertThat(failures(answer)).containsExactlyInAnyOrderElementsOf(BATCH);
  }

  @Test
  void items_that_are_named_have_failed() {
    assertThat(failures("{'batchItemFailures':[{'itemIdentifier':'2'}]}")).containsExactly("2");
  }
}

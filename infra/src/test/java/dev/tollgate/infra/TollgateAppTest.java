package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awscdk.services.sqs.Queue;

class TollgateAppTest {

  @Test
  void a_queue_that_takes_unencrypted_requests_is_found() {
    Synthesis stack = Synthesis.of(Map.of(), scope -> new Queue(scope, "Planted"));
    assertThat(stack.findings())
        .anySatisfy(finding -> assertThat(finding).contains("Planted", "AwsSolutions-SQS4"))
        .allSatisfy(finding -> assertThat(finding).contains("Planted"));
  }

  @ParameterizedTest
  @CsvSource({"'', Tollgate", "test_, Tollgate-test"})
  void prefix_is_in_the_name_of_the_stack(String prefix, String name) {
    assertThat(TollgateApp.stackName(prefix)).isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource({
    "removal, delete, 'removal: \"delete\" (expected: retain or destroy)'",
    "demo, yes, 'demo: \"yes\" (expected: true or false)'",
    "prefix, Test_, 'prefix: \"Test_\" (expected: [a-z][a-z0-9]{0,5}_ or empty; names of schedules,"
        + " which begin with it, have at most 64 characters)'"
  })
  void context_values_that_mean_nothing_are_refused(String name, String value, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Synthesis.of(Map.of(name, value)))
        .withMessage(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a_", "abcdef_", "a1_"})
  void prefix_of_up_to_seven_characters_is_taken(String prefix) {
    assertThat(TollgateProps.builder().prefix(prefix).build().prefix()).isEqualTo(prefix);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "_", "1a_", "abcdefg_", "a_b_", "a-_", "A_"})
  void prefix_of_another_form_is_refused(String prefix) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TollgateProps.builder().prefix(prefix).build())
        .withMessageStartingWith("prefix: \"" + prefix + "\"");
  }

  @Test
  void throttle_of_nothing_is_refused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TollgateProps.builder().throttle(0, 1).build())
        .withMessage("requestsPerSecond: 0 (expected: > 0)");
  }
}

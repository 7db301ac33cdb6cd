package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeStackTest {
  private static final Map<String, String> CONTEXT =
      Map.of(
          "probe", "true",
          "prefix", "test_",
          "deleteAt", "2026-11-27T14:00:00",
          "budgetEmail", "me@example.com");
  private static final Synthesis PROBE = Synthesis.ofProbe(CONTEXT);

  /** For cfn-lint, which {@code .ci/run} calls. */
  @BeforeAll
  static void write() throws IOException {
    Files.writeString(Path.of("target/probe.template.json"), PROBE.template().toString());
  }

  @Test
  void the_stack_has_no_cdk_nag_findings() {
    assertThat(PROBE.findings()).isEmpty();
  }

  @Test
  void nothing_is_kept_when_the_stack_is_deleted() {
    Set<String> policies = new TreeSet<>();
    for (JsonNode resource : PROBE.template().path("Resources")) {
      for (String policy : new String[] {"DeletionPolicy", "UpdateReplacePolicy"}) {
        policies.add(resource.path(policy).asText("Delete"));
      }
    }
    assertThat(policies).containsExactly("Delete");
  }

  @Test
  void schedules_delete_both_stacks_and_may_delete_no_other() {
    assertThat(PROBE.resources("AWS::Scheduler::Schedule").values())
        .map(schedule -> schedule.path("Properties"))
        .filteredOn(
            schedule ->
                schedule.at("/Target/Arn").toString().contains("cloudformation:deleteStack"))
        .hasSize(2)
        .allMatch(
            schedule ->
                schedule.path("ScheduleExpression").asText().equals("at(2026-11-27T14:00:00)"))
        .map(schedule -> schedule.at("/Target/Input").toString())
        .anyMatch(input -> input.contains("Tollgate-test"))
        .anyMatch(input -> input.contains("AWS::StackName"));
    assertThat(
            PROBE.statementsOf(
                PROBE.resources("AWS::IAM::Role").keySet().stream()
                    .filter(id -> id.startsWith("DeletionRole"))
                    .findFirst()
                    .orElseThrow()))
        .singleElement()
        .satisfies(
            statement -> {
              assertThat(statement.path("Action").asText()).isEqualTo("cloudformation:DeleteStack");
              assertThat(statement.path("Resource")).hasSize(2);
              assertThat(statement.path("Resource").toString())
                  .contains("stack/Tollgate-test/*", "AWS::StackName");
            });
  }

  @Test
  void the_writer_has_the_conditions_of_a_tenants_role() {
    String role =
        PROBE.resources("AWS::IAM::Role").keySet().stream()
            .filter(id -> id.startsWith("WriterRole"))
            .findFirst()
            .orElseThrow();
    assertThat(PROBE.statementsOf(role))
        .singleElement()
        .satisfies(
            statement ->
                assertThat(
                        statement
                            .at("/Condition/ForAllValues:StringLike/dynamodb:Attributes")
                            .toString())
                    .isEqualTo(
                        "[\"admitted\",\"admittedLastAt\",\"key\",\"line\",\"tenantId\","
                            + "\"withoutToken\"]"));
  }

  @ParameterizedTest
  @CsvSource({
    "deleteAt, '', 'deleteAt: \"\" (expected: a time in UTC such as 2026-11-27T14:00:00)'",
    "deleteAt, tomorrow, 'deleteAt: \"tomorrow\" (expected: a time in UTC such as"
        + " 2026-11-27T14:00:00)'",
    "budgetEmail, me, 'budgetEmail: \"me\" (expected: an e-mail address)'"
  })
  void an_invalid_context_value_is_refused(String name, String value, String message) {
    Map<String, String> context = new HashMap<>(CONTEXT);
    context.put(name, value);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Synthesis.ofProbe(context))
        .withMessage(message);
  }
}

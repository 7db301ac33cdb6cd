package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.gateway.Decision.Admitted;
import dev.tollgate.local.gateway.Decision.Refused;
import dev.tollgate.local.lambda.InvocationResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuthorizerAnswerTest {

  private static final String ARN =
      "arn:aws:execute-api:us-east-1:000000000000:ws1/production/$connect";

  @ParameterizedTest
  @CsvSource({
    "arn:aws:execute-api:us-east-1:000000000000:ws1/production/$connect, true",
    "arn:aws:execute-api:*:*:ws1/*, true",
    "*, true",
    "arn:aws:execute-api:us-east-1:000000000000:ws?/production/$connect, true",
    "arn:aws:execute-api:us-east-1:000000000000:ws1/*/*/*, false",
    "arn:aws:execute-api:us-east-1:000000000000:ws2/production/$connect, false",
    "arn:aws:execute-api:us-east-1:000000000000:ws1/production/$connec, false",
  })
  void resource_matches_as_in_iam(String resource, boolean allowed) {
    assertAllowed(of(policy(statement("Allow", "execute-api:Invoke", resource))), allowed);
  }

  @ParameterizedTest
  @CsvSource({
    "execute-api:Invoke, true",
    "EXECUTE-API:invoke, true",
    "execute-api:*, true",
    "*, true",
    "execute-api:ManageConnections, false",
  })
  void action_matches_as_in_iam(String action, boolean allowed) {
    assertAllowed(of(policy(statement("Allow", action, "*"))), allowed);
  }

  @Test
  void deny_wins_wherever_it_stands() {
    String allow = statement("Allow", "*", "*");
    String deny = statement("Deny", "execute-api:Invoke", "*");

    assertThat(of(policy(allow + "," + deny))).isEqualTo(new Refused(403, "", ""));
    assertThat(of(policy(deny + "," + allow))).isEqualTo(new Refused(403, "", ""));
    assertThat(of(policy(""))).isEqualTo(new Refused(403, "", ""));
  }

  @Test
  void context_becomes_strings() {
    String context = ",\"context\":{\"a\":\"x\",\"n\":1,\"f\":0.5,\"b\":true}";

    assertThat(of(answer("\"me\"", "[" + statement("Allow", "*", "*") + "]", context)))
        .isInstanceOfSatisfying(
            Admitted.class,
            admitted ->
                assertThat(admitted.context().toString())
                    .isEqualTo(
                        "{\"a\":\"x\",\"n\":\"1\",\"f\":\"0.5\",\"b\":\"true\",\"principalId\":\"me\"}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",\"context\":{\"a\":{}}",
        ",\"context\":{\"a\":[]}",
        ",\"context\":{\"a\":null}",
        ",\"context\":\"a\"",
      })
  void context_that_is_not_flat_is_broken(String context) {
    assertThat(of(answer("\"me\"", "[" + statement("Allow", "*", "*") + "]", context)))
        .extracting("status")
        .isEqualTo(500);
  }

  @Test
  void answer_over_8_kb_is_broken() {
    String allow = "[" + statement("Allow", "*", "*") + "]";
    String rest = answer("\"me\"", allow, ",\"context\":{\"a\":\"\"}");
    String fill = "x".repeat(8 * 1024 - rest.length());

    assertThat(of(answer("\"me\"", allow, ",\"context\":{\"a\":\"" + fill + "\"}")))
        .isInstanceOf(Admitted.class);
    assertThat(of(answer("\"me\"", allow, ",\"context\":{\"a\":\"" + fill + "x\"}")))
        .extracting("status")
        .isEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "not json",
        "null",
        "{\"isAuthorized\":true}",
        "{\"principalId\":1,\"policyDocument\":{\"Statement\":[]}}",
        "{\"principalId\":\"me\",\"policyDocument\":{\"Statement\":[{\"Effect\":\"Maybe\"}]}}",
        "{\"principalId\":\"me\"}",
      })
  void answer_of_another_form_is_broken(String answer) {
    assertThat(of(answer)).extracting("status").isEqualTo(500);
  }

  @Test
  void error_is_unauthorized_if_it_says_just_that() {
    assertThat(of(new InvocationResult.Failure("E", "Unauthorized", List.of())))
        .isEqualTo(new Refused(401, "", ""));
    assertThat(of(new InvocationResult.Failure("E", "unauthorized", List.of())))
        .extracting("status")
        .isEqualTo(500);
    assertThat(of(InvocationResult.Failure.timedOut("1", Duration.ofSeconds(1))))
        .extracting("status")
        .isEqualTo(500);
    assertThat(of(new InvocationResult.Throttled("x"))).extracting("status").isEqualTo(500);
  }

  private static void assertAllowed(Decision answer, boolean allowed) {
    if (allowed) {
      assertThat(answer).isInstanceOf(Admitted.class);
    } else {
      assertThat(answer).isEqualTo(new Refused(403, "", ""));
    }
  }

  private static Decision of(InvocationResult invocation) {
    return AuthorizerAnswer.of(invocation, ARN);
  }

  private static Decision of(String answer) {
    return AuthorizerAnswer.of(answer.getBytes(StandardCharsets.UTF_8), ARN);
  }

  private static String policy(String statements) {
    return answer("\"me\"", "[" + statements + "]", "");
  }

  private static String answer(String principal, String statements, String context) {
    return "{\"principalId\":%s,\"policyDocument\":{\"Version\":\"2012-10-17\",\"Statement\":%s}%s}"
        .formatted(principal, statements, context);
  }

  private static String statement(String effect, String action, String resource) {
    return "{\"Effect\":\"%s\",\"Action\":\"%s\",\"Resource\":\"%s\"}"
        .formatted(effect, action, resource);
  }
}

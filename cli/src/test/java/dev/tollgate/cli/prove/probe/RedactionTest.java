package dev.tollgate.cli.prove.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.http.Json;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RedactionTest {
  private final Redaction redaction = new Redaction(Map.of("run-1", "<run>"));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/probe/$connect |"
            + " arn:<partition>:execute-api::<api>/probe/$connect",
        "User: arn:aws:sts::123456789012:assumed-role/Tollgate-x-Role/s-1 is not |"
            + " User: arn:<partition>:sts::assumed-role/<role> is not",
        "arn:aws-cn:sqs:cn-north-1:123456789012:a_b.fifo | arn:<partition>:sqs::<queue>",
        "at 2026-11-27T06:15:05.123Z from 10.0.0.1 | at <time> from <ip>",
        "3063df45-62b1-44a5-af61-45de4d8f3204 in eu-central-1 | <id> in <region>",
        "5eb63bbbe01eeed093cb22bb8f5acdc3 | <digest>",
        "arn:aws:iam::123456789012:user/team/alice may | arn:<partition>:iam::user/<name> may",
        "key ASIAIOSFODNN7EXAMPLE of AROAIOSFODNN7EXAMPLE:s | key <key> of <key>:s",
        "a_123456789012_b | a_<account>_b",
        "wss://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/probe |"
            + " wss://<api>.execute-api.<region>.amazonaws.com/probe",
        "account 123456789012 of run-1 | account <account> of <run>",
        "2012-10-17 stays | 2012-10-17 stays"
      })
  void a_text_loses_what_differs(String text, String redacted) {
    assertThat(redaction.of(text)).isEqualTo(redacted);
  }

  @Test
  void a_long_token_has_no_place_in_an_answer() {
    assertThat(redaction.of("token " + "IQoJb3Jp/+".repeat(40) + "== ends"))
        .isEqualTo("token <token> ends");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'requestId':'a=','n':5} | {'requestId':'<id>','n':5}",
        "{'Host':['a','']} | {'Host':['<host>','']}",
        "{'X-Forwarded-For':''} | {'X-Forwarded-For':''}",
        "{'connectedAt':1795846505000,'other':1795846505000} |"
            + " {'connectedAt':'<time>','other':'<time>'}",
        "{'Authorization':'Bearer x','Cookie':['a=b']} |"
            + " {'Authorization':'<secret>','Cookie':['<secret>']}",
        "[{'sourceIp':'2001:db8::1'}] | [{'sourceIp':'<ip>'}]"
      })
  void a_member_with_a_known_name_loses_its_value(String document, String redacted) {
    assertThat(redaction.of(Json.parse(document.replace('\'', '"')).orElseThrow()))
        .hasToString(redacted.replace('\'', '"'));
  }
}

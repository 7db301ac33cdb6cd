package dev.tollgate.aws.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.CredentialsPolicyContract;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The policy of a table, with a script that behaves like DynamoDB. */
class DynamoDbCredentialsPolicyTest extends CredentialsPolicyContract {
  private final ScriptedAws services = new ScriptedAws();

  @AfterEach
  void stop() {
    services.close();
  }

  private AwsEnvironment aws(Map<String, String> more) {
    Map<String, String> environment = services.environment();
    environment.put("CREDENTIALS_TABLE", "Credentials");
    environment.putAll(more);
    return new AwsEnvironment(environment, new ManualClock(Samples.NOW), line -> {});
  }

  @Override
  protected CredentialsPolicy policy() {
    return aws(Map.of("CREDENTIALS_ROLES", String.join(",", ROLES)))
        .credentialsPolicy()
        .orElseThrow();
  }

  @Override
  protected void set(Optional<String> document) {
    services.on(
        "GetResourcePolicy",
        request ->
            request.body().equals("{\"ResourceArn\":\"" + TABLE + "\"}")
                ? document
                    .map(text -> Answer.ok("{\"Policy\":\"" + text.replace("\"", "\\\"") + "\"}"))
                    .orElse(Answer.failure(400, "PolicyNotFoundException"))
                : Answer.failure(400, "ResourceNotFoundException"));
  }

  @Test
  void a_denied_request_is_reported_as_unavailable() {
    services.on("GetResourcePolicy", request -> Answer.failure(400, "AccessDeniedException"));

    assertThatThrownBy(() -> policy().document())
        .isInstanceOf(Unavailable.class)
        .hasMessage("DynamoDB GetResourcePolicy: permission denied");
  }

  @Test
  void without_roles_there_is_no_policy_to_read() {
    assertThat(aws(Map.of()).credentialsPolicy()).isEmpty();
  }
}

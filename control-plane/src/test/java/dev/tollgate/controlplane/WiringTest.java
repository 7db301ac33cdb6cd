package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WiringTest {
  private static final InstantSource CLOCK = InstantSource.fixed(Instant.EPOCH);
  private static final String ARN = "arn:aws:lambda:us-east-1:000000000000:function:x";
  private static final Map<String, String> ENVIRONMENT =
      Map.ofEntries(
          Map.entry("AWS_REGION", "us-east-1"),
          Map.entry("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
          Map.entry("AWS_SECRET_ACCESS_KEY", "secret"),
          Map.entry("TENANT_TABLE", "tenants"),
          Map.entry("TIER_TABLE", "tiers"),
          Map.entry("IDEMPOTENCY_TABLE", "keys"),
          Map.entry("SESSION_TABLE", "sessions"),
          Map.entry("LIMIT_TABLE", "limits"),
          Map.entry("HISTORY_TABLE", "history"),
          Map.entry("AUDIT_TABLE", "audit"),
          Map.entry("QUEUE_URL_PREFIX", "https://sqs.us-east-1.amazonaws.com/000000000000/"),
          Map.entry("TENANT_ROLE_ARN", "arn:aws:iam::000000000000:role/tenant"),
          Map.entry("SCHEDULE_GROUP", "tollgate"),
          Map.entry("TOKEN_PRODUCER_ARN", ARN),
          Map.entry("SCHEDULE_ROLE_ARN", "arn:aws:iam::000000000000:role/scheduler"),
          Map.entry("SCHEDULE_DEAD_LETTER_ARN", "arn:aws:sqs:us-east-1:000000000000:dead"),
          Map.entry("PROCESSOR_FUNCTION_ARN", ARN + ":7"),
          Map.entry("PROCESSOR_CODE_BUCKET", "assets"),
          Map.entry("PROCESSOR_CODE_KEY", "0123.jar"),
          Map.entry("POOL_QUEUE_URL", "https://sqs.us-east-1.amazonaws.com/0/tollgate_pool.fifo"),
          Map.entry("PUSH_QUEUE_URL", "https://sqs.us-east-1.amazonaws.com/0/tollgate_push.fifo"),
          Map.entry(
              "POOL_DEAD_LETTER_URL",
              "https://sqs.us-east-1.amazonaws.com/0/tollgate_pool_dead.fifo"),
          Map.entry("WEBSOCKET_URL", "wss://x.execute-api.us-east-1.amazonaws.com/production"));

  @Test
  void functions_are_built_from_their_environment_without_any_request() {
    assertThat(new ControlPlaneApi(ENVIRONMENT, CLOCK)).isNotNull();
    assertThat(new Sweep(ENVIRONMENT, CLOCK)).isNotNull();
  }

  @Test
  void the_sweep_needs_neither_idempotency_keys_nor_the_audit_nor_the_queues() {
    for (String variable :
        List.of("AUDIT_TABLE", "IDEMPOTENCY_TABLE", "POOL_QUEUE_URL", "PUSH_QUEUE_URL")) {
      Map<String, String> without = new HashMap<>(ENVIRONMENT);
      without.remove(variable);

      assertThat(new Sweep(without, CLOCK)).isNotNull();
      assertThatThrownBy(() -> new ControlPlaneApi(without, CLOCK)).hasMessageContaining(variable);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "AWS_REGION",
        "TENANT_TABLE",
        "TIER_TABLE",
        "HISTORY_TABLE",
        "SESSION_TABLE",
        "LIMIT_TABLE",
        "QUEUE_URL_PREFIX",
        "TENANT_ROLE_ARN",
        "SCHEDULE_GROUP",
        "TOKEN_PRODUCER_ARN",
        "SCHEDULE_ROLE_ARN",
        "SCHEDULE_DEAD_LETTER_ARN",
        "PROCESSOR_FUNCTION_ARN",
        "PROCESSOR_CODE_BUCKET",
        "PROCESSOR_CODE_KEY",
        "POOL_DEAD_LETTER_URL",
        "WEBSOCKET_URL",
      })
  void a_missing_variable_is_named(String variable) {
    Map<String, String> without = new HashMap<>(ENVIRONMENT);
    without.remove(variable);

    assertThatThrownBy(() -> new ControlPlaneApi(without, CLOCK)).hasMessageContaining(variable);
    assertThatThrownBy(() -> new Sweep(without, CLOCK)).hasMessageContaining(variable);
  }

  @Test
  void a_release_that_could_change_is_refused() {
    Map<String, String> unpublished = new HashMap<>(ENVIRONMENT);
    unpublished.put("PROCESSOR_FUNCTION_ARN", ARN + ":live");

    assertThatThrownBy(() -> new Sweep(unpublished, CLOCK))
        .hasMessageContaining("PROCESSOR_FUNCTION_ARN")
        .hasMessageContaining(ARN + ":live")
        .hasMessageContaining("a published version");
  }
}

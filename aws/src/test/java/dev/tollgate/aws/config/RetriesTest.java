package dev.tollgate.aws.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.TokenQueue.Search;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.SdkSystemSetting;

/** Which failed requests the adapters repeat. */
class RetriesTest extends ScriptedAdapters {
  @ParameterizedTest
  @ValueSource(strings = {"ReceiveMessage", "SendMessageBatch", "UpdateItem"})
  void a_failed_request_that_is_not_idempotent_is_not_retried(String operation) {
    services.on(operation, request -> Answer.failure(500, "InternalFailure"));
    assertThatThrownBy(() -> request(operation))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining(operation);

    assertThat(services.requests(operation)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ReceiveMessage", "UpdateItem"})
  void a_throttled_request_is_unavailable_and_not_retried(String operation) {
    services.on(operation, request -> Answer.failure(400, "ThrottlingException"));
    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);

    assertThat(services.requests(operation)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ReceiveMessage", "SendMessageBatch", "UpdateItem"})
  void a_request_that_is_not_idempotent_is_not_retried_on_a_broken_connection(String operation) {
    AtomicInteger count = new AtomicInteger();
    services.on(
        operation, request -> count.getAndIncrement() == 0 ? Answer.ok("{}") : Answer.BREAK);
    request(operation);

    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);

    assertThat(services.requests(operation)).hasSize(2);
  }

  private void request(String operation) {
    switch (operation) {
      case "ReceiveMessage" -> aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG);
      case "SendMessageBatch" -> aws.tokenQueue().put(bucket, tokens(1));
      default -> aws.connections().countUp(tenant, "c", 1);
    }
  }

  @Test
  void a_failed_read_is_retried() {
    AtomicInteger count = new AtomicInteger();
    services.on(
        "GetItem",
        request ->
            count.incrementAndGet() < 3
                ? Answer.failure(500, "InternalServerError")
                : Answer.ok("{}"));

    assertThat(aws.connections().count(tenant)).isZero();

    assertThat(services.requests("GetItem")).hasSize(3);
  }

  /**
   * {@code AWS_RETRY_MODE}, {@code AWS_MAX_ATTEMPTS} and {@code AWS_NEW_RETRIES_2026}, which the
   * SDK knows from version 2.44 on.
   *
   * @see <a href="https://github.com/aws/aws-sdk-java-v2/issues/6987">Updated default retry
   *     behavior (2026)</a>
   */
  @ParameterizedTest
  @ValueSource(strings = {"legacy", "standard", "adaptive"})
  void settings_of_the_sdk_change_no_number_of_attempts(String mode) {
    Map<String, String> settings = new HashMap<>();
    settings.put(SdkSystemSetting.AWS_RETRY_MODE.property(), mode);
    settings.put(SdkSystemSetting.AWS_MAX_ATTEMPTS.property(), "5");
    Stream.of(SdkSystemSetting.values())
        .filter(setting -> setting.name().equals("AWS_NEW_RETRIES_2026"))
        .forEach(setting -> settings.put(setting.property(), "true"));
    settings.forEach(System::setProperty);
    try {
      for (String operation : List.of("GetItem", "ReceiveMessage", "UpdateItem")) {
        services.on(operation, request -> Answer.failure(500, "InternalFailure"));
      }
      assertThatThrownBy(() -> aws.connections().count(tenant)).isInstanceOf(Unavailable.class);
      assertThatThrownBy(() -> request("ReceiveMessage")).isInstanceOf(Unavailable.class);
      assertThatThrownBy(() -> request("UpdateItem")).isInstanceOf(Unavailable.class);
    } finally {
      settings.keySet().forEach(System::clearProperty);
    }

    assertThat(services.requests("GetItem")).hasSize(3);
    assertThat(services.requests("ReceiveMessage")).hasSize(1);
    assertThat(services.requests("UpdateItem")).hasSize(1);
  }

  @Test
  void a_read_that_fails_repeatedly_is_unavailable() {
    services.on("GetItem", request -> Answer.failure(400, "ThrottlingException"));

    assertThatThrownBy(() -> aws.tenants().find(tenant))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("GetItem");

    assertThat(services.requests("GetItem")).hasSizeBetween(2, 3);
  }
}

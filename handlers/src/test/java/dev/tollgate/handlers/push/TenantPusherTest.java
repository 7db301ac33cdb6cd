package dev.tollgate.handlers.push;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.SQSEvent.MessageAttribute;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.PushPage;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class TenantPusherTest {
  private static final Push PUSH = new Push(new TenantId("acme"), "p-1", "{}");

  private static SQSMessage message(Map<String, String> attributes) {
    SQSMessage message = new SQSMessage();
    message.setBody("{}");
    message.setAttributes(Map.of("MessageGroupId", "acme"));
    message.setMessageAttributes(
        attributes.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, one -> text(one.getValue()))));
    return message;
  }

  private static MessageAttribute text(String value) {
    MessageAttribute attribute = new MessageAttribute();
    attribute.setStringValue(value);
    return attribute;
  }

  @Test
  void a_message_is_a_page_with_the_instant_at_which_its_id_expires() {
    assertThat(
            TenantPusher.page(
                message(Map.of("id", "p-1", "idExpiresAt", "1800000000", "after", "0123456789ab"))))
        .isEqualTo(
            new PushPage(
                PUSH,
                Optional.of(Instant.ofEpochSecond(1_800_000_000)),
                Optional.of("0123456789ab")));
  }

  @Test
  void a_message_of_an_earlier_version_is_a_page_without_that_instant() {
    assertThat(TenantPusher.page(message(Map.of("id", "p-1"))))
        .isEqualTo(new PushPage(PUSH, Optional.empty(), Optional.empty()));
  }
}

package dev.tollgate.handlers.push;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.MessageAttribute;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.PushPage;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.message.TenantPushes;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemoryIdempotencyKeys;
import dev.tollgate.core.testing.memory.InMemorySessions;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  /** API Gateway answers 429 or 500; nobody else waits for the result. */
  @Test
  void frames_that_sockets_did_not_take_are_counted_and_the_page_is_not_sent_again() {
    ManualClock clock = new ManualClock(Instant.parse("2026-03-01T12:00:00Z"));
    InMemorySessions sessions = new InMemorySessions();
    sessions.create(
        new Session(
            PUSH.tenant(),
            new SessionId("1".repeat(32)),
            Set.of("c-1", "c-2"),
            clock.instant().plusSeconds(60),
            Optional.empty()));
    RecordingSockets sockets = new RecordingSockets();
    sockets.outage().begin("post to c-1");
    Pushes pushes =
        new Pushes(
            sessions,
            sockets,
            new Disconnection(sessions),
            Runnable::run,
            new Timing(Runnable::run, clock, System::nanoTime));
    TenantPusher pusher =
        new TenantPusher(
            new TenantPushes(sessions, pushes, page -> {}, new InMemoryIdempotencyKeys(), clock),
            new Metrics(clock));
    SQSEvent event = new SQSEvent();
    event.setRecords(List.of(message(Map.of("id", "p-1"))));
    RecordingContext context = new RecordingContext(Duration.ofSeconds(60));

    pusher.handleRequest(event, context);
    sockets.outage().end();
    pusher.handleRequest(event, context);

    assertThat(context.logged().stream().filter(line -> line.contains("\"UndeliveredFrames\":1")))
        .hasSize(1);
    assertThat(sockets.posted()).hasSize(1);
  }
}

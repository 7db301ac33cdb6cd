package dev.tollgate.handlers.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.message.Application;
import dev.tollgate.core.message.IncomingMessage;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemorySessions;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.message.Outbox;
import dev.tollgate.message.SendingMessageHandler;
import dev.tollgate.message.TenantMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a handler sends to other sessions. */
final class OutboxTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final SessionId OTHER = new SessionId("2".repeat(32));

  private final InMemorySessions sessions = new InMemorySessions();
  private final RecordingSockets sockets = new RecordingSockets();
  private final ManualClock clock = new ManualClock(START);

  /** Sends each message to another session, and replies how many sockets took it. */
  public static final class Forward implements SendingMessageHandler {
    /** A handler. */
    public Forward() {}

    @Override
    public List<String> handle(TenantMessage message, Outbox outbox) {
      return List.of(Integer.toString(outbox.send(OTHER.value(), message.json())));
    }
  }

  private List<String> handled(String tenant, String json) throws Exception {
    Application application =
        HandlerLoader.application(
            Map.of("MESSAGE_HANDLER", Forward.class.getName()),
            () ->
                new Pushes(
                    sessions,
                    sockets,
                    new Disconnection(sessions),
                    Runnable::run,
                    new Timing(Runnable::run, clock, System::nanoTime)));
    return application.handle(
        new IncomingMessage(
            new TenantId(tenant),
            new SessionId("1".repeat(32)),
            "c-1",
            "q-1",
            Optional.of("m-1"),
            false,
            new IncomingMessage.Message(json)),
        json);
  }

  private void other(String tenant, String... connections) {
    sessions.create(
        new Session(
            new TenantId(tenant),
            OTHER,
            Set.of(connections),
            START.plus(Duration.ofMinutes(5)),
            Optional.empty()));
  }

  @Test
  void another_session_of_the_tenant_gets_the_text_byte_for_byte() throws Exception {
    other("acme", "c-2", "c-3");

    assertThat(handled("acme", "{ \"a\": 1.0 }")).containsExactly("2");
    assertThat(sockets.postedTo("c-2"))
        .containsExactly("{\"type\":\"push\",\"id\":\"m-1\",\"message\":{ \"a\": 1.0 }}");
  }

  @Test
  void a_session_of_another_tenant_gets_nothing() throws Exception {
    other("other", "c-2");

    assertThat(handled("acme", "1")).containsExactly("0");
    assertThat(sockets.posted()).isEmpty();
  }

  @Test
  void what_is_no_json_or_too_long_is_not_sent() {
    other("acme", "c-2");

    assertThatThrownBy(() -> handled("acme", "{")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> handled("acme", "\"" + "x".repeat(131_072) + "\""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(sockets.posted()).isEmpty();
  }

  /** UTF-8 has no bytes for it; the frame would have a question mark instead. */
  @Test
  void half_a_surrogate_pair_is_refused_in_frames_and_in_replies() {
    other("acme", "c-2");

    assertThatThrownBy(() -> handled("acme", "\"\ud83d\""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(sockets.posted()).isEmpty();
    assertThatThrownBy(() -> new JsonFrames().reply("m-1", "\"\ud83d\""))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void without_an_outbox_nothing_is_sent() throws Exception {
    TenantMessage message = new TenantMessage("acme", "1".repeat(32), "c-1", "m-1", "1");

    assertThat(new Forward().handle(message)).containsExactly("0");
  }
}

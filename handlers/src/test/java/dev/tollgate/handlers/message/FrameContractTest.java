package dev.tollgate.handlers.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.IncomingMessage;
import dev.tollgate.core.message.Push;
import dev.tollgate.http.testing.SocketContract;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The published contract of sockets accepts the same frames as the code. */
final class FrameContractTest {
  private static final SocketContract SOCKETS = SocketContract.of(Path.of("../docs/asyncapi.yaml"));

  @Test
  void contract_has_every_frame_that_the_processor_sends() {
    JsonFrames frames = new JsonFrames();
    for (String frame :
        List.of(
            frames.message("m-1", "null"),
            frames.reply("m-1", "{\"a\":[1]}"),
            new Push(new TenantId("acme"), "p-1", "{\"a\":[1]}").frame(),
            frames.throttled("m-1", Duration.ofMillis(1)),
            frames.suspended("m-1"),
            frames.badFrame("m-1", "message: missing (expected: any JSON)"))) {
      SOCKETS.checkReceived(frame);
    }
    assertThat(SOCKETS.seen())
        .contains("message", "reply", "push", "throttled", "suspended", "badFrame");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"action\":\"PooledSQS\",\"message\":null}",
        "{\"action\":\"PooledSQS\",\"id\":null,\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":\"\",\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":7,\"message\":{},\"more\":true}",
        "{\"action\":\"SiloSQS\",\"id\":7.5,\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":\"a b\",\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":[],\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":true,\"message\":1}",
        "{\"action\":\"SiloSQS\"}",
        "{\"action\":\"SiloSQS\",",
        "[]"
      })
  void contract_accepts_the_same_client_frames_as_the_processor(String frame) {
    boolean taken = ClientFrame.of(frame).content() instanceof IncomingMessage.Message;

    assertThat(SOCKETS.takes(frame)).isEqualTo(taken);
  }
}

package dev.tollgate.cli.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApiTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"})
  @Timeout(20)
  void a_response_that_stalls_is_given_up_also_within_its_body(String sent) throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Socket> stalled =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  Socket socket = server.accept();
                  socket.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
                  return socket;
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      URI address = URI.create("http://127.0.0.1:" + server.getLocalPort());
      Api api = new Api(Api.client(), address, Optional.empty()).within(Duration.ofMillis(300));

      assertThatThrownBy(() -> api.get("/tiers"))
          .isInstanceOf(Failure.class)
          .hasMessageContaining("No complete response from " + address + "/tiers within");
      stalled.join().close();
    }
  }

  @Test
  @Timeout(60)
  void a_body_without_an_end_is_given_up_before_it_fills_the_memory() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AtomicLong sent = new AtomicLong();
      CompletableFuture<Void> endless =
          CompletableFuture.runAsync(
              () -> {
                byte[] part = "x".repeat(64 * 1024).getBytes(StandardCharsets.US_ASCII);
                try (Socket socket = server.accept()) {
                  OutputStream out = socket.getOutputStream();
                  out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                  while (sent.addAndGet(part.length) < 100_000_000) {
                    out.write(part);
                  }
                } catch (IOException closed) {
                  // The client has given up.
                }
              });
      URI address = URI.create("http://127.0.0.1:" + server.getLocalPort());
      Api api = new Api(Api.client(), address, Optional.empty());

      assertThatThrownBy(() -> api.get("/tenants"))
          .isInstanceOf(Failure.class)
          .hasMessageContaining("the body has more than 10485760 bytes");
      endless.join();
      assertThat(sent).hasValueLessThan(50_000_000);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eyJ.SECRET\nWarning",
        "eyJ.SECRET ",
        "eyJ.SECRET\r",
        "eyJ.SECRETé",
        "eyJ\0SECRET"
      })
  void a_token_that_a_header_cannot_carry_is_refused_and_not_repeated(String token) {
    assertThatThrownBy(() -> Api.withToken(Api.client(), URI.create("http://127.0.0.1:1"), token))
        .isInstanceOfSatisfying(
            Failure.class,
            failure -> {
              assertThat(failure.getMessage())
                  .startsWith("The token has U+")
                  .contains("(expected: one line of visible ASCII characters)")
                  .doesNotContain("SECRET");
              assertThat(failure.exitCode()).isEqualTo(ExitCode.USAGE);
            });
  }

  @Test
  void an_empty_token_is_refused() {
    assertThatThrownBy(() -> Api.withToken(Api.client(), URI.create("http://127.0.0.1:1"), ""))
        .hasMessageStartingWith("The token is empty");
  }
}

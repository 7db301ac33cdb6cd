package dev.tollgate.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RawRequestTest {
  @Test
  void a_host_header_of_the_caller_replaces_the_default() {
    RawRequest request =
        new RawRequest(
            "POST", URI.create("http://127.0.0.1:1/a?b=c"), Map.of("Host", "evil.example"), "{}");

    assertThat(request.text())
        .isEqualTo(
            "POST /a?b=c HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"
                + "Content-Length: 2\r\n\r\n{}");
  }

  @ParameterizedTest
  @CsvSource({"HTTP/1.1 421 Misdirected, 421", "HTTP/1.1 101 Switching, 101", "'', 0"})
  void a_handshake_returns_the_status_of_the_response(String answer, int status)
      throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Integer> found =
          CompletableFuture.supplyAsync(
              () ->
                  RawRequest.handshake(
                          URI.create("ws://127.0.0.1:" + server.getLocalPort() + "/a"), Map.of())
                      .status());
      try (var connection = server.accept()) {
        assertThat(connection.getInputStream().readNBytes(5))
            .isEqualTo("GET /".getBytes(StandardCharsets.UTF_8));
        while (connection.getInputStream().available() > 0) {
          var unused = connection.getInputStream().readNBytes(1);
        }
        connection.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
      }
      assertThat(found.join()).isEqualTo(status);
    }
  }
}

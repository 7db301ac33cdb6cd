package dev.tollgate.bench.contenders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RelayTest {
  private static final String GET = "*2\r\n$3\r\nget\r\n$1\r\nx\r\n";

  private ServerSocket server;
  private Relay relay;

  @BeforeEach
  void open() throws IOException {
    server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    relay =
        new Relay(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()),
            Relay.REDIS);
  }

  @AfterEach
  void close() throws IOException {
    relay.close();
    server.close();
  }

  private static void send(Socket from, Socket to, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    from.getOutputStream().write(bytes);
    assertThat(to.getInputStream().readNBytes(bytes.length)).isEqualTo(bytes);
  }

  @Test
  void request_counts_once_and_is_delayed_once_however_many_parts_it_and_its_answer_have()
      throws IOException {
    AtomicInteger delays = new AtomicInteger();
    relay.delay(delays::incrementAndGet);
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), relay.port());
        Socket service = server.accept()) {
      for (int i = 0; i < 3; i++) {
        send(client, service, GET);
        send(client, service, "second part");
        send(service, client, "answer");
        send(service, client, "second part");
      }
      send(client, service, "*1\r\n$4\r\nPING\r\n");
    }

    assertThat(relay.wire().requests()).isEqualTo(Map.of("GET", 3L, "PING", 1L));
    assertThat(relay.wire().total()).isEqualTo(4);
    assertThat(delays).hasValue(4);
  }

  @Test
  void wire_counts_since_an_earlier_moment() {
    Wire before = new Wire(Map.of("A", 2L, "B", 1L), 10);
    Wire now = new Wire(Map.of("A", 5L, "B", 1L), 30);

    assertThat(now.since(before)).isEqualTo(new Wire(Map.of("A", 3L), 20));
    assertThat(now.since(before).plus(before)).isEqualTo(now);
  }

  @Test
  void operation_is_read_from_both_protocols_of_aws() {
    assertThat(
            Relay.AWS.apply(
                "POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.UpdateItem\r\n\r\n{}"))
        .isEqualTo("UpdateItem");
    assertThat(Relay.AWS.apply("POST / HTTP/1.1\r\n\r\nAction=AssumeRole&Version=1"))
        .isEqualTo("AssumeRole");
    assertThat(Relay.AWS.apply("POST /2015-03-31/functions/x/invocations HTTP/1.1\r\n\r\n"))
        .isEqualTo("other");
  }
}

package dev.tollgate.local.testing;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** A WebSocket client that never reads what it is sent. */
public final class SlowReader implements AutoCloseable {
  private static final int SMALLEST_WINDOW = 4_096;

  private final Socket socket;

  private SlowReader(Socket socket) {
    this.socket = socket;
  }

  /** Opens a socket, and reads nothing but the answer to its handshake. */
  public static SlowReader connect(URI uri) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(SMALLEST_WINDOW);
    socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
    String path = uri.getRawPath() + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
    String handshake =
        String.join(
            "\r\n",
            "GET " + path + " HTTP/1.1",
            "Host: " + uri.getAuthority(),
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "",
            "");
    socket.getOutputStream().write(handshake.getBytes(StandardCharsets.US_ASCII));
    StringBuilder answer = new StringBuilder();
    while (answer.indexOf("\r\n\r\n") < 0) {
      int next = socket.getInputStream().read();
      if (next < 0) {
        break;
      }
      answer.append((char) next);
    }
    if (!answer.toString().startsWith("HTTP/1.1 101 ")) {
      socket.close();
      throw new IOException(answer.toString());
    }
    return new SlowReader(socket);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

package dev.tollgate.bench.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request with arbitrary headers, as an attacker's page can cause them, such as the name of
 * another host.
 *
 * @param method the HTTP method
 * @param address the URL
 * @param headers all headers except {@code Connection} and {@code Content-Length}
 * @param body the body; may be empty
 */
public record RawRequest(String method, URI address, Map<String, String> headers, String body) {
  private static final int PATIENCE_MILLIS = 35_000;

  /** Copies the headers. */
  public RawRequest {
    headers = Map.copyOf(headers);
  }

  /** The handshake that opens a WebSocket at a URL. */
  public static RawRequest handshake(URI address, Map<String, String> headers) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Connection", "Upgrade");
    all.put("Upgrade", "websocket");
    all.put("Sec-WebSocket-Version", "13");
    all.put("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    return new RawRequest("GET", address, all, "");
  }

  /**
   * Sends the request.
   *
   * @return the status of the response; 0 if the connection was closed instead
   * @throws UncheckedIOException if the request cannot be sent
   */
  public int status() {
    try (Socket socket = new Socket(InetAddress.getByName(address.getHost()), address.getPort())) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write(text().getBytes(StandardCharsets.UTF_8));
      String start = new String(socket.getInputStream().readNBytes(12), StandardCharsets.UTF_8);
      return start.matches("HTTP/1\\.1 \\d{3}") ? Integer.parseInt(start.substring(9)) : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(method + " " + address + ": " + e, e);
    }
  }

  /** The text of the request. */
  String text() {
    String query = address.getRawQuery() == null ? "" : "?" + address.getRawQuery();
    StringBuilder text =
        new StringBuilder(method + " " + address.getRawPath() + query + " HTTP/1.1\r\n");
    headers.forEach((name, value) -> text.append(name + ": " + value + "\r\n"));
    if (!headers.containsKey("Connection")) {
      text.append("Connection: close\r\n");
    }
    return text + "Content-Length: " + body.length() + "\r\n\r\n" + body;
  }
}

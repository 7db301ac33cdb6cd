package dev.tollgate.local.gateway;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A WebSocket client that remembers what it received. */
public final class Client implements WebSocket.Listener {

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int SECONDS = 10;

  private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private final CompletableFuture<Integer> closed = new CompletableFuture<>();
  private final StringBuilder partial = new StringBuilder();

  private Client() {}

  public record Connected(Client client, WebSocket socket) {

    public String nextMessage() throws InterruptedException, IOException {
      String message = client.messages.poll(SECONDS, TimeUnit.SECONDS);
      if (message == null) {
        throw new IOException("no message within " + SECONDS + " s");
      }
      return message;
    }

    /** The code of the server's close frame, or 1006 if the socket broke without one. */
    public int closeCode() throws Exception {
      return client.closed.get(SECONDS, TimeUnit.SECONDS);
    }

    public void send(String text) {
      socket.sendText(text, true).join();
    }
  }

  public static Connected connect(URI uri, String... headers) {
    Client client = new Client();
    WebSocket.Builder builder = HTTP.newWebSocketBuilder();
    for (int i = 0; i < headers.length; i += 2) {
      if (headers[i].equals("Sec-WebSocket-Protocol")) {
        builder.subprotocols(headers[i + 1]);
      } else {
        builder.header(headers[i], headers[i + 1]);
      }
    }
    return new Connected(client, builder.buildAsync(uri, client).join());
  }

  /** The response to a handshake that is refused. */
  static HttpResponse<?> refusal(URI uri, String... headers) throws Exception {
    try {
      connect(uri, headers).socket().abort();
      throw new AssertionError("not refused");
    } catch (CompletionException e) {
      if (e.getCause() instanceof WebSocketHandshakeException refused) {
        return refused.getResponse();
      }
      throw e;
    }
  }

  /** 101, or the status with which the handshake is refused. */
  static int status(URI uri, String... headers) {
    try {
      connect(uri, headers).socket().abort();
      return 101;
    } catch (CompletionException e) {
      if (e.getCause() instanceof WebSocketHandshakeException refused) {
        return refused.getResponse().statusCode();
      }
      throw e;
    }
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
    partial.append(data);
    if (last) {
      messages.add(partial.toString());
      partial.setLength(0);
    }
    socket.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket socket, int statusCode, String reason) {
    closed.complete(statusCode);
    return null;
  }

  @Override
  public void onError(WebSocket socket, Throwable error) {
    closed.complete(1006);
  }
}

package dev.tollgate.e2e.acceptance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A deployed stack as its users see it: the HTTP APIs and the sockets, at the addresses in the
 * stack's outputs. Every exchange and every frame is checked against the published contracts.
 */
public abstract class Deployment {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** How often a request is repeated that a service did not answer in time. */
  private static final int MAX_REPETITIONS = 10;

  private final HttpClient http = HttpClient.newHttpClient();

  /**
   * The deployment under test: the deployment of the outputs file that the system property {@code
   * tollgate.outputs} names, or else the local one.
   */
  public static Deployment underTest() {
    String outputs = System.getProperty("tollgate.outputs", "");
    return outputs.isEmpty()
        ? ServiceLoader.load(Provider.class).findFirst().orElseThrow().deployment()
        : RemoteDeployment.of(Path.of(outputs));
  }

  /** Provides the deployment under test when no outputs file is named. */
  public interface Provider {
    /** The deployment that all acceptance tests share. */
    Deployment deployment();
  }

  /** The stack's outputs, by name. */
  public abstract Map<String, String> outputs();

  /** Lets time pass in the deployment. */
  public abstract void pass(Duration time) throws InterruptedException;

  public Answer control(String method, String path, String body) {
    return send(outputs().get("ControlPlaneURL") + path, method, body, "application/json");
  }

  public Answer control(String method, String path) {
    return control(method, path, "");
  }

  /**
   * Onboards a tenant. Unless the overrides say otherwise, a gold tenant gets fewer messages a
   * minute than its tier allows, because a new tenant's bucket is filled with ten tokens a request.
   */
  public Answer onboard(String tenant, String tier, String overrides) {
    ObjectNode limits = JSON.createObjectNode();
    try {
      limits.setAll((ObjectNode) JSON.readTree(overrides));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(overrides, e);
    }
    if (tier.equals("gold") && !limits.has("messagesPerMinute")) {
      limits.put("messagesPerMinute", 300);
    }
    ObjectNode body = JSON.createObjectNode();
    body.put("tenantId", tenant).put("tier", tier).set("overrides", limits);
    return control("POST", "/tenants", body.toString());
  }

  public Answer session(String method, String query) {
    return send(outputs().get("SessionURL") + query, method, "", "application/json");
  }

  /**
   * Creates a session and returns its id. Repeats the request while it gets 503: on a machine that
   * does much else, a service may not answer in time.
   */
  public String open(String tenant) {
    Answer created = session("PUT", "?tenantId=" + tenant);
    for (int i = 0; created.status() == 503 && i < MAX_REPETITIONS; i++) {
      created = session("PUT", "?tenantId=" + tenant);
    }
    if (created.status() != 201) {
      throw new AssertionError(created);
    }
    return created.body().get("sessionId").asText();
  }

  public Answer send(String url, String method, String body, String contentType) {
    return send(url, method, body, Map.of("content-type", contentType));
  }

  public Answer send(String url, String method, String body, Map<String, String> headers) {
    return send(url, method, body.getBytes(StandardCharsets.UTF_8), headers);
  }

  /** Sends a body of any bytes. */
  public Answer send(String url, String method, byte[] body, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(60))
            .method(method, HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    try {
      HttpResponse<String> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      String text = new String(body, StandardCharsets.UTF_8);
      Contracts.check(outputs(), request.build(), text, response);
      JsonNode document =
          response.body().isEmpty() ? JSON.createObjectNode() : JSON.readTree(response.body());
      return new Answer(response.statusCode(), response.headers().map(), document);
    } catch (IOException e) {
      throw new AssertionError(url, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(url, e);
    }
  }

  /** Starts a handshake without waiting for its end. */
  public CompletableFuture<Handshake> handshake(String query) {
    URI url = URI.create(outputs().get("WebSocketURL") + query);
    ReceivedFrames frames = new ReceivedFrames();
    return http.newWebSocketBuilder()
        .buildAsync(url, frames)
        .handle((socket, thrown) -> handshake(socket, thrown, frames));
  }

  public Handshake connect(String tenant, String session) {
    return handshake(query(tenant, session)).join();
  }

  /** Opens many sockets concurrently. */
  public List<Handshake> connectAll(int sockets, String tenant, List<String> sessions) {
    List<CompletableFuture<Handshake>> pending = new ArrayList<>();
    for (int i = 0; i < sockets; i++) {
      pending.add(handshake(query(tenant, sessions.get(i % sessions.size()))));
    }
    return pending.stream().map(CompletableFuture::join).toList();
  }

  public static String query(String tenant, String session) {
    return "?tenantId=" + tenant + "&sessionId=" + session;
  }

  private static Handshake handshake(WebSocket socket, Throwable thrown, ReceivedFrames frames) {
    if (thrown == null) {
      Contracts.SOCKETS.checkHandshake(101);
      return new Handshake(101, socket, frames);
    }
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof WebSocketHandshakeException refused) {
      Contracts.SOCKETS.checkHandshake(refused.getResponse().statusCode());
      return new Handshake(refused.getResponse().statusCode(), socket, frames);
    }
    throw new AssertionError(thrown);
  }

  /**
   * The result of a handshake.
   *
   * @param frames the frames that the socket receives
   */
  public record Handshake(int status, WebSocket socket, ReceivedFrames frames) {
    /** Leaves a frame below its limit of 32 KB for any characters. */
    private static final int FRAME_CHARS = 8_000;

    /** The code with which the server closes the socket, once it does. */
    public CompletableFuture<Integer> closed() {
      return frames.closed();
    }

    /** Sends a message, in several frames if it is long. */
    public void send(String message) {
      frames.sent(message);
      int from = 0;
      while (message.length() - from > FRAME_CHARS) {
        int to = from + FRAME_CHARS;
        if (Character.isHighSurrogate(message.charAt(to - 1))) {
          to--;
        }
        socket.sendText(message.substring(from, to), false).join();
        from = to;
      }
      socket.sendText(message.substring(from), true).join();
    }
  }

  /** A response of an HTTP API. */
  public record Answer(int status, Map<String, List<String>> headers, JsonNode body) {
    public String header(String name) {
      return headers.getOrDefault(name, List.of("none")).get(0);
    }
  }
}
